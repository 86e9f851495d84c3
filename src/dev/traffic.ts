/** Generates traffic of every kind on an anvil chain, identical for the same seed. */
import { pause } from '../lib/async.ts';
import { Prng } from '../lib/random.ts';
import { byKindName, TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';
import type { DemoContracts } from './contracts.ts';
import {
  cohort,
  contractPayments,
  creations,
  fanOuts,
  fundingChain,
  payments,
  revertedPayments,
} from './native-scenarios.ts';
import {
  type PlannedTransaction,
  type Scenario,
  type ScenarioContext,
  type Stage,
  type TransferCounts,
  zipStages,
} from './planned-transaction.ts';
import { createSubmitter, type SubmitOptions, type Submitter } from './submit.ts';
import { erc20, erc721, erc1155, erc2309, launch, malformedLogs, wrapping } from './token-scenarios.ts';
import { bundledLaunch, marketSwing, snipedLaunch } from './trade-scenarios.ts';
import { freshWallet, roles } from './wallets.ts';

/** Keeps the random numbers of adjacent seeds apart. */
const ROUNDS_PER_SEED = 1_000_003;

const SCENARIOS: readonly Scenario[] = [
  fundingChain,
  payments,
  cohort,
  creations,
  fanOuts,
  contractPayments,
  revertedPayments,
  erc20,
  launch,
  wrapping,
  erc721,
  erc1155,
  erc2309,
  malformedLogs,
  marketSwing,
  snipedLaunch,
  bundledLaunch,
];

function planRound(contracts: DemoContracts, seed: number, round: number): Stage[] {
  const context = roundContext(contracts, seed, round);
  return zipStages(SCENARIOS.map((scenario) => scenario(context)));
}

export function roundContext(contracts: DemoContracts, seed: number, round: number): ScenarioContext {
  return {
    contracts,
    roles: roles(),
    random: new Prng(seed * ROUNDS_PER_SEED + round),
    fresh: (name) => freshWallet(`${seed}/${round}/${name}`),
  };
}

interface TrafficOptions extends SubmitOptions {
  /** Number of rounds. Default: until `signal` aborts. */
  rounds?: number;
  /** Two runs on one chain need different seeds, because the seed determines the wallets. Default: `DEMO_SEED`. */
  seed?: number;
  /** Pause between rounds, milliseconds. Default: none. */
  roundPauseMs?: number;
}

/** The mined traffic. */
interface TrafficReport {
  /** Completed rounds. */
  rounds: number;
  transactions: number;
  reverted: number;
  /**
   * Transfers per kind that an index of the chain must contain for this traffic, and malformed logs that it must
   * reject.
   */
  yields: Required<TransferCounts>;
}

export const DEMO_SEED = 1;
const YIELDS = [...TRANSFER_KIND_NAMES, 'malformed'] as const;

/**
 * Generates rounds of traffic. Resolves with the traffic on the chain when the rounds are done or `signal` aborts. The
 * report excludes a stage that was still being mined.
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
  const yields = { ...byKindName(() => 0), malformed: 0 };
  return { rounds: 0, transactions: 0, reverted: 0, yields };
}
