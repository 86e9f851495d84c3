/** One round of demo traffic: every scenario once, planned only from the contracts, the seed and the round's number. */

import { Prng } from '../lib/prng.ts';
import type { DemoContracts } from './contracts.ts';
import { contractPayments, fanOuts, revertedPayments } from './internal-scenarios.ts';
import { cohort, creations, fundingChain, payments } from './native-scenarios.ts';
import { erc721, erc1155, erc2309, malformedLogs } from './nft-scenarios.ts';
import { type Scenario, type ScenarioContext, type Stage, zipStages } from './planned-transaction.ts';
import { erc20, launch, wrapping } from './token-scenarios.ts';
import { freshWallet, roles } from './wallets.ts';

/** Keeps the random numbers of one seed apart from those of the next. */
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
];

export function planRound(contracts: DemoContracts, seed: number, round: number): Stage[] {
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
