/** Compares the launches that the API gives of tokens with a plain count of the transfers. */
import assert from 'node:assert/strict';
import type { AskApi } from '../clients/ask-api.ts';
import { plainShare } from '../plain-share.ts';
import { least, type PlainBuyer, type PlainLaunches, type PlainThresholds } from './plain-launch.ts';

type Json = Record<string, unknown>;

/** Sums of all that was compared. */
export interface LaunchCounts {
  bought: number;
  bought_for: number;
  received: number;
  minted: number;
  uncounted: number;
  paid: number;
  sold: number;
  profits: number;
  snipers: number;
  bundles: number;
  sameFunderGroups: number;
  insiders: number;
  fresh: number;
}

export function noLaunches(): LaunchCounts {
  return {
    bought: 0,
    bought_for: 0,
    received: 0,
    minted: 0,
    uncounted: 0,
    paid: 0,
    sold: 0,
    profits: 0,
    snipers: 0,
    bundles: 0,
    sameFunderGroups: 0,
    insiders: 0,
    fresh: 0,
  };
}

/** Compares the launches of these tokens and adds what they had to `counts`. */
export async function compareLaunches(
  ask: AskApi,
  plain: PlainLaunches,
  tokens: readonly string[],
  { limit, thresholds }: { limit: number; thresholds: PlainThresholds },
  counts: LaunchCounts,
): Promise<void> {
  for (const token of tokens) {
    const expected = plain.of(token, limit, thresholds);
    const answer = await ask('token_launch', {
      token,
      limit: `${limit}`,
      sniper_blocks: `${thresholds.snipers}`,
      bundle_wallets: `${thresholds.bundle}`,
      fresh_blocks: `${thresholds.fresh}`,
    });
    const { buyers, summary, firstBlock, openBlock, profitReason, truncated } = answer;
    assert.ok(Array.isArray(buyers));
    assert.equal(truncated, false);
    const hasSums = profitReason === null;
    assert.deepEqual(
      buyers.map(shownBuyer),
      expected.buyers.map((buyer, i) => plainBuyer(buyer, i, expected.firstBlock, hasSums)),
      `buyers of ${token}`,
    );
    assert.deepEqual([firstBlock, openBlock], [expected.firstBlock, expected.open], `blocks of ${token}`);
    assert.deepEqual(summary, expected.summary, `summary of ${token}`);
    for (const { how, counted, paid, sold, average } of expected.buyers) {
      counts[how]++;
      if (!counted) counts.uncounted++;
      if (paid !== null) counts.paid++;
      if (sold > 0n) counts.sold++;
      if (average !== 0n) counts.profits++;
    }
    for (const name of ['snipers', 'bundles', 'sameFunderGroups', 'insiders', 'fresh'] as const)
      counts[name] += expected.summary[name] ?? 0;
  }
}

function shownBuyer(record: Json): Json {
  const { paid, timestamp: _, contract: __, uncertain, ...rest } = record;
  assert.equal(uncertain, false);
  return { ...rest, paid: paid === null ? null : shownLeg(paid) };
}

function shownLeg(leg: unknown): string {
  const { amount, tokenAddress, tokenIds, decimals }: Json = Object(leg);
  const id = Array.isArray(tokenIds) && decimals !== 0 ? `#${tokenIds.join()}` : '';
  return `${amount} ${tokenAddress ?? 'native'}${id}`;
}

function plainBuyer(buyer: PlainBuyer, i: number, firstBlock: number, hasSums: boolean): Json {
  const { address, block, hash, how, payer, paid, amount, balance, sold, average, funder, age } = buyer;
  const [sameBlock, samePayer, sameFunder] = buyer.groups;
  const kept = least(amount, balance);
  return {
    address,
    rank: i + 1,
    blockNumber: block,
    blocksAfterFirst: block - firstBlock,
    txHash: hash,
    how,
    payer,
    amount: `${amount}`,
    paid: paid && `${paid[1]} ${paid[0].replace('!', '')}`,
    balance: `${balance}`,
    heldShare: amount === 0n ? null : plainShare(kept, amount),
    sold: hasSums ? `${sold}` : null,
    averageCostProfit: hasSums ? `${average}` : null,
    funder,
    fundingAgeBlocks: age,
    counted: buyer.counted,
    sameBlock,
    samePayer,
    sameFunder,
  };
}
