/** One round of demo traffic: every scene once, planned only from the contracts, the seed and the round's number. */

import { erc721, erc1155, erc2309, malformedLogs } from './collectibles.ts';
import type { DemoContracts } from './contracts.ts';
import { detours, fanOuts, undone } from './internal.ts';
import { cohort, creations, fundingChain, payments } from './native.ts';
import { seededRandom } from './random.ts';
import { type Scene, type Setting, type Stage, sideBySide } from './step.ts';
import { erc20, launch, wrapping } from './tokens.ts';
import { freshWallet, roles } from './wallets.ts';

/** Keeps the random numbers of one seed apart from those of the next. */
const ROUNDS_PER_SEED = 1_000_003;

const SCENES: readonly Scene[] = [
  fundingChain,
  payments,
  cohort,
  creations,
  fanOuts,
  detours,
  undone,
  erc20,
  launch,
  wrapping,
  erc721,
  erc1155,
  erc2309,
  malformedLogs,
];

export function planRound(contracts: DemoContracts, seed: number, round: number): Stage[] {
  const setting = roundSetting(contracts, seed, round);
  return sideBySide(SCENES.map((scene) => scene(setting)));
}

export function roundSetting(contracts: DemoContracts, seed: number, round: number): Setting {
  return {
    contracts,
    roles: roles(),
    random: seededRandom(seed * ROUNDS_PER_SEED + round),
    fresh: (name) => freshWallet(`${seed}/${round}/${name}`),
  };
}
