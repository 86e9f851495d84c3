import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';
import { callContract, createContract, disperse, failTransaction } from './contracts.ts';
import { mintHugeAmount, sendErc20, swapErc20 } from './erc20.ts';
import { moveErc721 } from './erc721.ts';
import { mintErc1155Batch, moveErc1155 } from './erc1155.ts';
import { emitMalformedLogs } from './malformed.ts';
import {
  fundFreshWallet,
  payFreshWallet,
  sendNative,
  sendToSelf,
  sendZeroValue,
  startFundingBurst,
} from './native.ts';
import { trade } from './trades.ts';

type Weighted = readonly [weight: number, activity: (world: World) => Transaction];

/** The weight of each activity. The order is part of the chain's definition. */
const ACTIVITIES: readonly Weighted[] = [
  [20, sendNative],
  [6, fundFreshWallet],
  [2, sendZeroValue],
  [1, sendToSelf],
  [24, sendErc20],
  [8, swapErc20],
  [6, moveErc721],
  [6, moveErc1155],
  [3, mintErc1155Batch],
  [5, callContract],
  [2, createContract],
  [7, failTransaction],
  [5, disperse],
  [2, startFundingBurst],
  [1, emitMalformedLogs],
  [0.5, mintHugeAmount],
];
/** With trades at pools, nobody swaps for tokens that are made at that moment. */
const TRADES = 18;
const WITHOUT = summed(ACTIVITIES);
const WITH_TRADES = summed(
  ACTIVITIES.map((weighted) => (weighted[1] === swapErc20 ? [TRADES, trade] : weighted)),
);

function summed(activities: readonly Weighted[]) {
  return { activities, weights: activities.reduce((sum, [weight]) => sum + weight, 0) };
}

/** Composes the transaction at the ledger's position: the next of a funding burst while one runs, else any. */
export function nextTransaction(world: World): Transaction {
  const funder = world.fundingQueue.pop();
  if (funder !== undefined) return payFreshWallet(world, funder);
  const { activities, weights } = world.trades ? WITH_TRADES : WITHOUT;
  let rest = world.prng.fraction() * weights;
  for (const [weight, activity] of activities) {
    rest -= weight;
    if (rest < 0) return activity(world);
  }
  return sendNative(world);
}
