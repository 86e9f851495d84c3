/** Compares the answers about one wallet, token or place with a recount. */
import assert from 'node:assert/strict';
import type { AskApi } from '../support/clients/ask-api.ts';
import { type Counted, latestTimes } from '../support/model/transfer-model.ts';
import { plainShare } from '../support/plain-share.ts';
import type { Recount } from './recount.ts';

const MON = 10n ** 18n;

export async function checkWallet(ask: AskApi, recount: Recount, address: string): Promise<void> {
  const equal = async (path: string, input: Record<string, string>, expected: object) =>
    assert.deepEqual(
      await ask(path, { address, ...input }),
      expected,
      `${path} ${JSON.stringify(input)} of ${address}`,
    );
  await equal('wallet_summary', {}, recount.walletSummary(address));
  await equal('wallet_funding_source', {}, recount.walletFundingSource(address));
  await equal('latest_native_in', {}, recount.latestNativeIn(address));
  await equal('wallet_label', {}, recount.walletLabel(address));
  await equal('funding_chain', { depth: '10' }, recount.fundingChain(address, 10));
  await equal('funding_chain', {}, recount.fundingChain(address, 5));
  const { coordinated: fundedTogether, ...cohort } = recount.coordinatedWallets(address);
  const {
    coordinated: _,
    nextCursor: __,
    count: ___,
    ...firstPage
  } = await ask('coordinated_wallets', { address });
  assert.deepEqual(firstPage, cohort);
  for (const limit of [200, 2]) {
    const limited = { limit: `${limit}` };
    assert.deepEqual(
      await allPages(ask, { address, ...limited }, 'coordinated_wallets', 'coordinated'),
      fundedTogether,
    );
    assert.deepEqual(
      await allPages(ask, { address, ...limited }, 'wallet_counterparties', 'counterparties'),
      recount.walletCounterparties(address),
    );
    for (const blocks of [10_000, 9]) {
      const windowed = { ...limited, blocks: `${blocks}` };
      assert.deepEqual(
        await allPages(ask, { address, ...windowed }, 'funding_recipients', 'recipients'),
        recount.fundingRecipients(address, blocks),
      );
      assert.deepEqual(
        await allPages(ask, { address, ...windowed }, 'recent_token_transfers_out'),
        recount.recentTokenTransfersOut(address, blocks),
      );
    }
  }
}

/** Pages through a wallet's transfers and compares the counters of its summary with the list. */
export async function checkPages(ask: AskApi, recount: Recount, address: string): Promise<void> {
  const listed = await allPages(ask, { address, include_internal: 'true' });
  assert.deepEqual(listed, recount.addressTransfers(address, { internal: true }));
  const summary = await ask('wallet_summary', { address });
  assert.equal(summary.txCount, new Set(listed.map(({ txHash }) => txHash)).size);
  assert.equal(summary.uniqueTokens, new Set(listed.flatMap(({ tokenAddress }) => tokenAddress ?? [])).size);
}

/** A whole list, page by page. */
async function allPages(
  ask: AskApi,
  input: Record<string, string>,
  path = 'address_transfers',
  list = 'transfers',
): Promise<Record<string, unknown>[]> {
  const listed: Record<string, unknown>[] = [];
  for (let cursor: unknown = null; ; ) {
    const page = await ask(path, {
      limit: '500',
      ...input,
      ...(cursor === null ? {} : { cursor: `${cursor}` }),
    });
    const { [list]: records, count } = page;
    assert.ok(Array.isArray(records));
    assert.equal(count, records.length);
    listed.push(...records);
    cursor = page.nextCursor;
    if (cursor === null) return listed;
  }
}

export async function checkWalletTokens(ask: AskApi, recount: Recount, address: string): Promise<void> {
  for (const includeZero of [false, true]) {
    for (const limit of ['200', '2']) {
      const input = { address, include_zero: `${includeZero}`, limit };
      assert.deepEqual(
        await allPages(ask, input, 'wallet_tokens', 'tokens'),
        recount.walletTokens(address, includeZero),
        JSON.stringify(input),
      );
    }
  }
}

/** On equal counts any of several tokens or wallets may be listed; those listed must have their count. */
export async function checkChainStats(
  ask: AskApi,
  recount: Recount,
  times: Map<number, number>,
): Promise<void> {
  for (const blocks of [1, 7, 30, 1_000, 7]) {
    const answer = await ask('chain_stats', { blocks: `${blocks}` });
    const { headAgeSeconds, indexBytes, topTokens, topWallets, ...rest } = answer;
    assert.ok(Array.isArray(topTokens) && Array.isArray(topWallets));
    assert.ok(Number(headAgeSeconds) > 0);
    assert.ok(Number(indexBytes) > 0);
    const countsOf = (list: { transferCount: number }[]) => list.map(({ transferCount }) => transferCount);
    assert.deepEqual(
      { ...rest, tokenCounts: countsOf(topTokens), walletCounts: countsOf(topWallets) },
      recount.chainStats(blocks, times),
      `${blocks} blocks`,
    );
    for (const { address, transferCount } of topWallets) {
      assert.equal(transferCount, recount.transfersOf(address, blocks));
    }
    for (const { tokenAddress, transferCount } of topTokens) {
      assert.equal(transferCount, recount.transfersOfToken(tokenAddress, blocks));
    }
  }
}

/** Every block and every transaction, with large and with small pages. */
export async function checkPlaces(ask: AskApi, recount: Recount, blocks: number): Promise<void> {
  for (let block = 1; block <= blocks; block++) {
    const expected = recount.blockTransfers(block);
    for (const limit of ['200', '3']) {
      const input = { block: `${block}`, limit };
      assert.deepEqual(await allPages(ask, input, 'block_transfers'), expected, `block ${block}`);
    }
    const {
      transfers: _,
      count: __,
      ...byNumber
    } = await ask('block_transfers', { block: `${block}`, limit: '1' });
    const { transfers, ...byHash } = await ask('block_transfers', { block: `${byNumber.blockHash}` });
    assert.deepEqual(transfers, expected.slice(0, 50));
    assert.equal(byHash.blockNumber, block);
  }
  for (const tx of recount.transactionHashes) {
    for (const limit of ['200', '4']) {
      assert.deepEqual(
        await allPages(ask, { tx, limit }, 'transaction_transfers'),
        recount.transactionTransfers(tx),
        `transaction ${tx}`,
      );
    }
  }
}

export async function checkToken(
  ask: AskApi,
  recount: Recount,
  token: string,
  times: Map<number, number>,
): Promise<void> {
  assert.deepEqual(await ask('token_stats', { token }), recount.tokenStats(token));
  for (const limit of [200, 3]) {
    const limited = { token, limit: `${limit}` };
    assert.deepEqual(
      await allPages(ask, limited, 'token_first_buyers', 'buyers'),
      recount.tokenFirstBuyers(token),
    );
    await checkHolders(ask, recount, token, limit);
    assert.deepEqual(await allPages(ask, limited, 'token_transfers'), recount.tokenTransfers(token));
  }
  await checkTokenFilters(ask, recount, token, times);
}

/** The filters of token_transfers, alone and combined. */
async function checkTokenFilters(
  ask: AskApi,
  recount: Recount,
  token: string,
  times: Map<number, number>,
): Promise<void> {
  const own = recount.ofToken(token);
  const some = own[Math.floor(own.length / 2)];
  if (some === undefined) return;
  const latest = latestTimes(times);
  const middle = latest.get(some.block) ?? 0;
  const filters: Record<string, [value: string, isWanted: (transfer: Counted) => boolean]> = {
    type: [some.kind, ({ kind }) => kind === some.kind],
    counterparty: [some.to, ({ from, to }) => from === some.to || to === some.to],
    min_amount: [`${some.amount}`, ({ amount }) => amount >= some.amount],
    after_block: [`${some.block}`, ({ block }) => block >= some.block],
    before_block: [`${some.block}`, ({ block }) => block <= some.block],
    token_id: [`${some.tokenId ?? 0n}`, ({ tokenId }) => tokenId === (some.tokenId ?? 0n)],
    until: [`${middle}`, ({ block }) => (latest.get(block) ?? 0) <= middle],
  };
  const names = Object.keys(filters);
  const sets = [...names.map((name) => [name]), names.slice(0, 4), ['counterparty', 'min_amount', 'until']];
  for (const set of sets) {
    const input = Object.fromEntries(set.map((name) => [name, filters[name]?.[0] ?? '']));
    assert.deepEqual(
      await allPages(ask, { token, ...input, limit: '9' }, 'token_transfers'),
      recount.tokenTransfers(token, (transfer) => set.every((name) => filters[name]?.[1](transfer))),
      `${token} ${JSON.stringify(input)}`,
    );
  }
}

/** Balances in order, each with the right amount. Which of several equal holders is listed does not matter. */
async function checkHolders(ask: AskApi, recount: Recount, token: string, limit: number): Promise<void> {
  const holders = await allPages(ask, { token, limit: `${limit}` }, 'token_holders', 'holders');
  const balances = recount.balances(token);
  const largest = [...balances.values()].filter((balance) => balance > 0n).sort((a, b) => (a > b ? -1 : 1));
  assert.deepEqual(
    holders.map(({ balance }) => balance),
    largest.map(String),
  );
  const supply = recount.shareSupply(token);
  for (const { address, balance, share } of holders) {
    const own = balances.get(String(address)) ?? 0n;
    assert.equal(balance, String(own));
    assert.equal(share, supply === null || own > supply ? null : plainShare(own, supply));
  }
  assert.equal(new Set(holders.map(({ address }) => address)).size, holders.length);
}

const NATIVE = new Set(['native_direct', 'native_internal']);

/** The filters of address_transfers, alone and combined. */
export async function checkFilters(
  ask: AskApi,
  recount: Recount,
  address: string,
  times: Map<number, number>,
): Promise<void> {
  const own = recount.of(address);
  const some = own[Math.floor(own.length / 2)];
  if (some === undefined) return;
  const token = own.find((transfer) => transfer.token !== null)?.token ?? recount.tokens[0] ?? address;
  const other = some.from === address ? some.to : some.from;
  const latest = latestTimes(times);
  const middle = latest.get(some.block) ?? 0;
  const filters: Record<string, [value: string, isWanted: (transfer: Counted) => boolean]> = {
    token: [token, (t) => t.token === token],
    type: ['erc20,native_internal', ({ kind }) => kind === 'erc20' || kind === 'native_internal'],
    counterparty: [other, ({ from, to }) => (from === address ? to : from) === other],
    min_mon: ['0.5', ({ kind, amount }) => NATIVE.has(kind) && amount >= MON / 2n],
    since: [`${middle}`, ({ block }) => (latest.get(block) ?? 0) >= middle],
    until: [new Date(middle * 1000 + 500).toISOString(), ({ block }) => (latest.get(block) ?? 0) <= middle],
  };
  const names = Object.keys(filters);
  const sets = [...names.map((name) => [name]), ['token', 'since'], ['type', 'counterparty', 'until']];
  for (const set of sets) {
    const isWanted = (transfer: Counted) => set.every((name) => filters[name]?.[1](transfer));
    const input = Object.fromEntries(set.map((name) => [name, filters[name]?.[0] ?? '']));
    assert.deepEqual(
      await allPages(ask, { address, ...input, limit: '9' }),
      recount.addressTransfers(address, { internal: set.includes('type'), isWanted }),
      `${address} ${JSON.stringify(input)}`,
    );
  }
}

export async function checkWhales(ask: AskApi, recount: Recount, mins: readonly string[]): Promise<void> {
  for (const min of mins) {
    const [whole = '0', fraction = ''] = min.split('.');
    const wei = BigInt(whole) * MON + BigInt(fraction.padEnd(18, '0'));
    for (const blocks of [1_000_000, 40, 1]) {
      const expected = recount.whaleTransfers(wei, blocks);
      const input = { min_mon: min, blocks: `${blocks}` };
      const { minMon, blocksWindow } = await ask('whale_transfers', input);
      assert.deepEqual([minMon, blocksWindow], [Number(min), blocks]);
      for (const limit of ['7', '200']) {
        assert.deepEqual(
          await allPages(ask, { ...input, limit }, 'whale_transfers'),
          expected,
          `at least ${min} within ${blocks} blocks`,
        );
      }
    }
    const all = recount.whaleTransfers(wei, 1_000_000);
    const middle = all[Math.floor(all.length / 2)]?.id ?? 0;
    for (const limit of ['7', '200']) {
      assert.deepEqual(
        await allPages(ask, { min_mon: min, after_id: `${middle}`, blocks: '1', limit }, 'whale_transfers'),
        all.filter(({ id }) => id > middle).reverse(),
        `at least ${min} after ${middle}`,
      );
    }
  }
}

/** All wallets in batches of 100, with and without the answers of other endpoints. */
export async function checkBatches(ask: AskApi, recount: Recount): Promise<void> {
  for (let from = 0; from < recount.wallets.length; from += 100) {
    const addresses = recount.wallets.slice(from, from + 100);
    const entriesOf = (entryOf: (address: string) => object | null) =>
      Object.fromEntries(addresses.map((address) => [address, entryOf(address)]));
    const plain = await ask('wallets/batch', { addresses });
    assert.deepEqual(
      plain.wallets,
      entriesOf((address) => recount.batchEntry(address)),
    );
    assert.equal(plain.count, addresses.length);
    const full = await ask('wallets/batch', { addresses, fields: ['summary', 'funding', 'labels'] });
    const expected = entriesOf((address) => ({
      ...recount.batchEntry(address),
      summary: recount.walletSummary(address),
      funding: recount.walletFundingSource(address),
      labels: recount.walletLabel(address),
    }));
    assert.deepEqual(full.wallets, expected);
  }
}

/** Searches for every wallet, token, transaction and block, and for missing ones. */
export async function checkSearch(ask: AskApi, recount: Recount): Promise<void> {
  const found = async (q: string) => {
    const { results } = await ask('search', { q });
    assert.ok(Array.isArray(results));
    return results.map(({ kind, value, detail }) => `${kind} ${value} ${detail}`);
  };
  for (const address of new Set([...recount.wallets, ...recount.tokens])) {
    const transactions = recount.batchEntry(address)?.['txCount'];
    const wallet =
      `wallet ${address} ` +
      `${transactions === undefined ? 'no indexed activity' : `${transactions} transactions`}`;
    const [last, token, ...others] = (await found(address.toUpperCase().replace('X', 'x'))).reverse();
    assert.deepEqual([last, others], [wallet, []]);
    assert.equal(token !== undefined, recount.tokens.includes(address), address);
    if (token === undefined) continue;
    const transfers = recount.transfersOfToken(address, 1_000_000);
    const moved = transfers === 1 ? '1 transfer' : `${transfers.toLocaleString('en-US')} transfers`;
    assert.ok(token.startsWith(`token ${address} `) && token.endsWith(`, ${moved}`), token);
  }
  for (const hash of recount.transactionHashes) {
    const [transaction = '', ...others] = await found(hash);
    assert.ok(transaction.startsWith(`transaction ${hash} `), transaction);
    assert.deepEqual(others, []);
  }
  assert.match((await found('1')).join(), /^block 1 /);
  assert.deepEqual(await found('999999'), []);
  assert.deepEqual(await found(`0x${'12'.repeat(32)}`), []);
}

export async function checkListing(ask: AskApi, recount: Recount, address: string): Promise<void> {
  for (const direction of ['in', 'out'] as const) {
    assert.deepEqual(
      await allPages(ask, { address, direction }),
      recount.addressTransfers(address, { direction }),
    );
  }
  for (const [after, before] of [
    [20, 60],
    [55, 55],
    [60, 20],
  ] as const) {
    assert.deepEqual(
      await allPages(ask, { address, after_block: `${after}`, before_block: `${before}` }),
      recount.addressTransfers(address, { after, before }),
    );
  }
}
