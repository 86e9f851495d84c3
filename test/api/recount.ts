/**
 * Recomputes every answer of the REST API from a plain list of transfers, in the simplest correct way: filter, group,
 * sum, sort. Shares only the names of the kinds with the program.
 */
import {
  coin,
  concentration,
  fundingOf,
  type Json,
  MON,
  plainTransferOf,
  transferOf,
} from '../support/model/records.ts';
import {
  addressesOf,
  type Counted,
  group,
  isFundingOf,
  last,
  latestTimes,
  nativeSum,
  TransferModel,
  ZERO,
} from '../support/model/transfer-model.ts';
import { plainShare } from '../support/plain-share.ts';

export class Recount extends TransferModel {
  private readonly coverage: { historicalCoverageStartBlock: number };

  constructor(transfers: readonly Counted[], startBlock: number, head: number) {
    super(transfers, head);
    this.coverage = { historicalCoverageStartBlock: startBlock };
  }

  addressTransfers(
    address: string,
    options: {
      direction?: 'in' | 'out';
      internal?: boolean;
      after?: number;
      before?: number;
      isWanted?: (transfer: Counted) => boolean;
    } = {},
  ): Json[] {
    const { direction, internal = false, after = 0, before = this.head, isWanted = () => true } = options;
    return this.of(address)
      .filter((t) => t.block >= after && t.block <= before && (internal || t.kind !== 'native_internal'))
      .filter(isWanted)
      .filter((t) => (direction === 'in' ? t.to : direction === 'out' ? t.from : address) === address)
      .map((t) => ({
        ...transferOf(t),
        from: t.from,
        direction: t.from === address && direction !== 'in' ? 'out' : 'in',
      }))
      .reverse();
  }

  walletSummary(address: string): Json {
    const { first, last, received, sent } = this.sums(address);
    return {
      address,
      firstSeenBlock: first?.block ?? null,
      lastSeenBlock: last?.block ?? null,
      txCount: this.transactions(address),
      uniqueTokens: this.tokensOf(address),
      nativeReceived: coin(received),
      nativeReceivedWei: `${received}`,
      nativeSent: coin(sent),
      nativeSentWei: `${sent}`,
      nativeBalance: null,
      nativeBalanceWei: null,
      nativeBalanceReason: null,
      firstFundingSource: this.firstOf.get(address)?.from ?? null,
      lastActivity: last?.time ?? null,
      ...this.coverage,
    };
  }

  batchEntry(address: string): Json | null {
    const { first, last } = this.sums(address);
    if (!first || !last) return null;
    return {
      firstSeenBlock: first.block,
      lastSeenBlock: last.block,
      txCount: this.transactions(address),
      lastActivity: last.time,
      firstFunder: this.firstOf.get(address)?.from ?? null,
      firstFundingBlock: this.firstOf.get(address)?.block ?? null,
    };
  }

  walletFundingSource(address: string): Json {
    const first = this.firstOf.get(address);
    const none = [
      'from',
      'amount',
      'amountWei',
      'txHash',
      'eventIndex',
      'blockNumber',
      'blockHash',
      'timestamp',
      'source',
    ];
    const record = first ? { from: first.from, ...fundingOf(first) } : null;
    const flat = record ?? Object.fromEntries(none.map((name) => [name, null]));
    return { address, firstFunding: record, ...flat, ...this.coverage };
  }

  latestNativeIn(address: string): Json {
    const incoming = this.of(address).filter((t) => isFundingOf(t, address));
    const latest = incoming.findLast(({ kind }) => kind === 'native_direct') ?? incoming.at(-1);
    return {
      address,
      latestNativeIn: latest ? { from: latest.from, ...fundingOf(latest) } : null,
      ...this.coverage,
    };
  }

  walletLabel(address: string): Json {
    const { first, last, received, sent } = this.sums(address);
    const txCount = this.transactions(address);
    const uniqueTokens = this.tokensOf(address);
    const age = first ? this.head - first.block : null;
    const labels: string[] = [];
    if (first && last && age !== null) {
      const own = this.of(address);
      const internalIn = own.filter((t) => t.kind === 'native_internal' && t.to === address).length;
      if (age < 1000 && txCount < 20) labels.push('fresh');
      if (received > 10_000n * MON || sent > 10_000n * MON) labels.push('whale');
      if (txCount >= 500 && txCount > 0.5 * (last.block - first.block + 1)) labels.push('bot_likely');
      if (uniqueTokens >= 20) labels.push('trader');
      if (internalIn >= 10 && !own.some(({ token }) => token !== null)) labels.push('contract_likely');
      if (txCount > 5000) labels.push('high_activity');
      if (uniqueTokens >= 1 && uniqueTokens <= 3 && txCount < 50) labels.push('casual');
      if (labels.length === 0) labels.push('regular');
    }
    const confidence = !first ? 'none' : txCount >= 100 ? 'high' : txCount >= 10 ? 'medium' : 'low';
    return {
      address,
      labels,
      confidence,
      stats: {
        txCount,
        uniqueTokens,
        nativeInMon: coin(received),
        nativeInWei: `${received}`,
        nativeOutMon: coin(sent),
        nativeOutWei: `${sent}`,
        ageBlocks: age,
        firstBlock: first?.block ?? null,
        lastBlock: last?.block ?? null,
        firstFunder: this.firstOf.get(address)?.from ?? null,
      },
      ...this.coverage,
    };
  }

  walletCounterparties(address: string): Json[] {
    const real = this.of(address).filter((t) => t.from !== t.to && (t.token === null || t.amount > 0n));
    const groups = group(real, ({ from, to }) => [from === address ? to : from]);
    groups.delete(ZERO);
    return [...groups]
      .sort(([, a], [, b]) => b.length - a.length || last(b).id - last(a).id)
      .map(([other, list]) => {
        const into = list.filter(({ from }) => from === other);
        const out = list.filter(({ to }) => to === other);
        return {
          address: other,
          transferCount: list.length,
          inCount: into.length,
          outCount: out.length,
          nativeIn: coin(nativeSum(into)),
          nativeInWei: `${nativeSum(into)}`,
          nativeOut: coin(nativeSum(out)),
          nativeOutWei: `${nativeSum(out)}`,
          lastBlock: last(list).block,
          lastSeenAt: last(list).time,
        };
      });
  }

  fundingRecipients(address: string, blocks: number): Json[] {
    const paid = this.within(blocks, this.of(address)).filter(
      (t) => t.token === null && t.from === address && t.to !== address && address !== ZERO,
    );
    return [...group(paid, ({ to }) => [to])]
      .sort(([, a], [, b]) => last(b).id - last(a).id)
      .map(([to, list]) => {
        const { amount: _, amountWei: __, ...latest } = fundingOf(last(list));
        const { blockNumber, ...shown } = latest;
        return {
          address: to,
          amount: coin(nativeSum(list)),
          amountWei: `${nativeSum(list)}`,
          transferCount: list.length,
          firstBlock: list[0]?.block,
          lastBlock: blockNumber,
          ...shown,
          firstFunding: this.firstOf.get(to)?.from === address,
        };
      });
  }

  recentTokenTransfersOut(address: string, blocks: number): Json[] {
    return this.within(blocks, this.of(address))
      .filter((t) => t.token !== null && t.from === address)
      .map(transferOf)
      .reverse();
  }

  tokenTransfers(token: string, isWanted: (transfer: Counted) => boolean = () => true): Json[] {
    const own = this.ofToken(token).filter(isWanted);
    return own.map((t) => ({ ...transferOf(t), from: t.from })).reverse();
  }

  fundingChain(address: string, depth: number): Json {
    const chain: Json[] = [];
    const seen = [address];
    for (let at = address; chain.length < depth && at !== ZERO; ) {
      const first = this.firstOf.get(at);
      if (!first || seen.includes(first.from)) break;
      chain.push({ hop: chain.length + 1, funded: at, funder: first.from, ...fundingOf(first) });
      seen.push(first.from);
      at = first.from;
    }
    return { address, chain, depth: chain.length, ...this.coverage };
  }

  coordinatedWallets(address: string): { coordinated: Json[] } & Json {
    const own = this.firstOf.get(address);
    const all = own ? (this.fundedBy.get(own.from) ?? []) : [];
    const distance = (t: Counted) => Math.abs(t.block - (own?.block ?? 0));
    const later = (t: Counted) => Number(t.id > (own?.id ?? 0));
    const coordinated = all
      .filter((t) => t !== own)
      .sort(
        (a, b) =>
          distance(a) - distance(b) ||
          later(a) - later(b) ||
          Math.abs(a.id - (own?.id ?? 0)) - Math.abs(b.id - (own?.id ?? 0)),
      )
      .map((t) => ({ address: t.to, ...fundingOf(t) }));
    return {
      address,
      funder: own?.from ?? null,
      funderFundedCount: all.length,
      hub: all.length > 1000,
      coordinated,
      ...this.coverage,
    };
  }

  tokenStats(token: string): Json {
    const list = this.byToken.get(token) ?? [];
    const holders = [...this.balances(token).values()].filter((balance) => balance > 0n);
    const supply = this.supply(token);
    const wallets = new Set(list.flatMap(({ from, to }) => [from, to]));
    wallets.delete(ZERO);
    return {
      token,
      name: null,
      symbol: null,
      decimals: null,
      type: list[0]?.kind ?? null,
      transferCount: list.length,
      holderCount: holders.length,
      uniqueWallets: wallets.size,
      supply: supply === null ? null : String(supply),
      minted: list.length === 0 ? null : String(this.sumOf(token, ({ from }) => from === ZERO)),
      burned: list.length === 0 ? null : String(this.sumOf(token, ({ to }) => to === ZERO)),
      truncated: false,
      concentration: concentration(holders, supply),
      firstSeenBlock: list[0]?.block ?? null,
      firstSeenAt: list[0]?.time ?? null,
      estimateQuality: null,
      estimateReason: null,
      ...this.coverage,
    };
  }

  tokenFirstBuyers(token: string): Json[] {
    const list = this.byToken.get(token) ?? [];
    const first = new Map<string, Counted>();
    for (const t of this.ownForm(token))
      if (t.amount > 0n && t.to !== ZERO && !first.has(t.to)) first.set(t.to, t);
    return [...first].slice(0, 200).map(([address, t]) => ({
      address,
      firstSeenBlock: t.block,
      firstSeenAt: t.time,
      txHash: t.hash,
      eventIndex: t.eventIndex,
      transferCount: list.filter(({ from, to }) => from === address || to === address).length,
    }));
  }

  private shareOfSupply(token: string, balance: bigint): number | null {
    const supply = this.shareSupply(token);
    return supply === null || balance < 0n || balance > supply ? null : plainShare(balance, supply);
  }

  /** Every token of a wallet, most recently moved first. */
  walletTokens(address: string, includeZero: boolean): Json[] {
    const moved = this.of(address).filter(({ token }) => token !== null);
    return [...group(moved, ({ token }) => [token ?? ''])]
      .sort(([, a], [, b]) => last(b).id - last(a).id)
      .map(([token, list]) => ({
        tokenAddress: token,
        name: null,
        symbol: null,
        decimals: null,
        type: this.byToken.get(token)?.[0]?.kind,
        balance: list
          .filter(({ kind }) => kind === this.byToken.get(token)?.[0]?.kind)
          .reduce(
            (sum, { from, to, amount }) =>
              sum + (to === address ? amount : 0n) - (from === address ? amount : 0n),
            0n,
          ),
        transferCount: list.length,
        lastBlock: last(list).block,
        lastSeenAt: last(list).time,
        accuracy: null,
        accuracyReason: null,
      }))
      .filter(({ balance }) => includeZero || balance > 0n)
      .map((token) => ({
        ...token,
        balance: `${token.balance}`,
        share: this.shareOfSupply(token.tokenAddress, token.balance),
      }));
  }

  /** `times` are Unix seconds of the blocks by number. */
  chainStats(blocks: number, times: ReadonlyMap<number, number>): Json {
    const headTime = times.get(this.head) ?? 0;
    const latest = latestTimes(times);
    const rates = (seconds: number) => {
      const early = [...latest].filter(([, time]) => time <= headTime - seconds).map(([number]) => number);
      const base = early.length > 0 ? Math.max(...early) : Math.min(...times.keys());
      const minutes = (headTime - (latest.get(base) ?? 0)) / 60;
      const added = this.transfers.filter(({ block }) => block > base);
      const seen = new Set(this.transfers.filter(({ block }) => block <= base).flatMap(addressesOf));
      const fresh = new Set(
        added.flatMap(addressesOf).filter((address) => address !== ZERO && !seen.has(address)),
      );
      const rate = (count: number) => (minutes <= 0 ? 0 : Math.round((count / minutes) * 100) / 100);
      return {
        transfers: rate(added.length),
        transactions: rate(new Set(added.map(({ hash }) => hash)).size),
        newWallets: rate(fresh.size),
      };
    };
    const recent = this.within(blocks, this.transfers);
    const wallets = group(recent, ({ from, to }) => [...new Set([from, to])]);
    wallets.delete(ZERO);
    const counts = (groups: Map<string, Counted[]>) =>
      [...groups.values()].map(({ length }) => length).sort((a, b) => b - a);
    return {
      head: this.head,
      headTimestamp: new Date(headTime * 1000).toISOString(),
      perMinute: { hour: rates(3_600), day: rates(86_400) },
      blocksWindow: blocks,
      tokenCounts: counts(group(recent, ({ token }) => (token === null ? [] : [token]))).slice(0, 10),
      walletCounts: counts(wallets).slice(0, 10),
      ...this.coverage,
    };
  }

  /** Of a block, by its number. */
  blockTransfers(block: number): Json[] {
    return this.transfers.filter((t) => t.block === block).map(plainTransferOf);
  }

  transactionTransfers(hash: string): Json[] {
    return this.transfers.filter((t) => t.hash === hash).map(plainTransferOf);
  }

  /** Newest first. */
  whaleTransfers(minWei: bigint, blocks: number): { id: number }[] {
    return this.within(blocks, this.transfers)
      .filter((t) => t.token === null && t.amount >= minWei)
      .reverse()
      .map((t) => ({
        ...fundingOf(t),
        id: t.id,
        from: t.from,
        to: t.to,
        amount: `${t.amount / MON}.${((t.amount % MON) / 10n ** 12n).toString().padStart(6, '0')}`,
        transferType: 'native',
      }));
  }
}
