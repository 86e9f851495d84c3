/** Traffic of every kind on an anvil chain, the same for the same seed. */
import { pause } from '../lib/backoff.ts';
import { TRANSFER_KIND_NAMES } from '../types.ts';
import type { DemoContracts } from './contracts.ts';
import type { PlannedTransaction, Stage, TransferCounts } from './planned-transaction.ts';
import { planRound } from './round.ts';
import { createSubmitter, type SubmitOptions, type Submitter } from './submit.ts';

export interface TrafficOptions extends SubmitOptions {
  /** Rounds to make; without it, round after round until `signal` aborts. */
  rounds?: number;
  /** Two runs on one chain need different seeds, since the seed determines the wallets. `DEMO_SEED` by default. */
  seed?: number;
  /** Milliseconds between rounds; none unless given. */
  roundPauseMs?: number;
}

/** What was done, counting mined transactions only. */
export interface TrafficReport {
  /** Completed rounds. */
  rounds: number;
  transactions: number;
  reverted: number;
  /** Transfers per kind that an index of the chain must contain for them, and malformed logs that it must reject. */
  yields: Required<TransferCounts>;
}

export const DEMO_SEED = 1;
const YIELDS = [...TRANSFER_KIND_NAMES, 'malformed'] as const;

/**
 * Makes rounds of traffic. Resolves with what is on the chain when the rounds are done or `signal` aborts; a stage that
 * was still being mined is left out of the report.
 */
export async function generateTraffic(
  url: string,
  contracts: DemoContracts,
  options: TrafficOptions = {},
): Promise<TrafficReport> {
  const { rounds = Number.POSITIVE_INFINITY, seed = DEMO_SEED, roundPauseMs = 0, signal } = options;
  const submitter = await createSubmitter(url, options);
  const report = emptyReport();
  while (report.rounds < rounds && !signal?.aborted) {
    try {
      await runRound(submitter, planRound(contracts, seed, report.rounds), report);
    } catch (error) {
      if (signal?.aborted) break;
      throw error;
    }
    report.rounds++;
    if (report.rounds < rounds) await pause(roundPauseMs, signal);
  }
  return report;
}

async function runRound(submitter: Submitter, stages: readonly Stage[], report: TrafficReport) {
  for (const stage of stages) {
    await submitter.run(stage);
    for (const planned of stage) record(planned, report);
  }
}

function record(planned: PlannedTransaction, report: TrafficReport): void {
  report.transactions++;
  if (planned.reverts) report.reverted++;
  for (const name of YIELDS) report.yields[name] += planned.yields[name] ?? 0;
}

function emptyReport(): TrafficReport {
  const yields = { native_direct: 0, native_internal: 0, erc20: 0, erc721: 0, erc1155: 0, malformed: 0 };
  return { rounds: 0, transactions: 0, reverted: 0, yields };
}
