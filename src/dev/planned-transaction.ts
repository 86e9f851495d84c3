/** The building blocks of demo traffic: transactions, in stages that depend on one another. */
import type { LocalAccount } from 'viem';
import type { Hex } from '../lib/hex.ts';
import type { Prng } from '../lib/random.ts';
import type { TransferKindName } from '../model/transfer-kind.ts';
import type { DemoContracts } from './contracts.ts';
import type { Roles } from './wallets.ts';

/**
 * Transfers per kind that the index must contain (including internal ones, excluding reverted ones), and logs that it
 * must reject.
 */
export type TransferCounts = Partial<Record<TransferKindName | 'malformed', number>>;

/** One transaction and its expected transfers. */
export interface PlannedTransaction {
  from: LocalAccount;
  /** Null creates a contract. */
  to: Hex | null;
  data?: Hex;
  /** Wei. Default: none. */
  value?: bigint;
  /** Gas limit. Default: `CALL_GAS`. */
  gas?: bigint;
  /** The transaction is meant to revert. */
  reverts?: boolean;
  yields: TransferCounts;
}

/** Transactions that can be sent together. The previous stage must be mined first. */
export type Stage = PlannedTransaction[];

/** Inputs of a scenario's plan. */
export interface ScenarioContext {
  contracts: DemoContracts;
  roles: Roles;
  random: Prng;
  /** An unused wallet. The name must be unique in the round. */
  fresh(name: string): LocalAccount;
}

/** Plans the stages of a round. Pure. */
export type Scenario = (context: ScenarioContext) => Stage[];

/** Gas limit of an ordinary call: more than any call needs, yet many fit into a block. */
export const CALL_GAS = 500_000n;
export const DEPLOY_GAS = 2_500_000n;

/** Scenarios played in parallel: their first stages together, then their second ones. */
export function zipStages(scenarios: readonly Stage[][]): Stage[] {
  const length = Math.max(0, ...scenarios.map((stages) => stages.length));
  return Array.from({ length }, (_, index) => scenarios.flatMap((stages) => stages[index] ?? []));
}

/** A native payment from one account to another. */
export function payment(from: LocalAccount, to: Hex, value: bigint): PlannedTransaction {
  return { from, to, value, gas: 21_000n, yields: value > 0n ? { native_direct: 1 } : {} };
}
