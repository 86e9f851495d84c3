/** What the index must answer about who funded whom. */
import { ZERO_ADDRESS } from '../../lib/address.ts';
import type { Hex } from '../../types.ts';
import type { ExpectedCoordination, ExpectedFundingChain, FundingHop } from './expected.ts';
import type { Funding } from './facts.ts';
import type { Ledger } from './ledger.ts';
import type { World } from './world.ts';

const MAX_HOPS = 10;
/** Most wallets of each group that are candidates for the reported chains. */
const CANDIDATES = 400;
const INTERNAL_CANDIDATES = 200;
const CHAINS_PER_LENGTH = 2;

/** Two chains of each length that occurs, the longest first. */
export function fundingChains(world: World): ExpectedFundingChain[] {
  const chains = candidates(world)
    .map((address) => ({ address, hops: followFunders(world.ledger, address) }))
    .filter(({ hops }) => hops.length > 0)
    .sort((a, b) => b.hops.length - a.hops.length || (a.address < b.address ? -1 : 1));
  const perLength = new Map<number, number>();
  return chains.filter(({ hops }) => {
    const taken = perLength.get(hops.length) ?? 0;
    perLength.set(hops.length, taken + 1);
    return taken < CHAINS_PER_LENGTH;
  });
}

/** The latest and the earliest of the recently funded wallets, and wallets that only a contract funded. */
function candidates({ recentlyFunded, ledger, actors }: World): Hex[] {
  const contracts = actors.contracts();
  const internalOnly = [...ledger.wallets].filter(
    ([address, facts]) =>
      facts.firstInternal && !facts.firstDirect && !contracts.has(address) && address !== ZERO_ADDRESS,
  );
  return [
    ...new Set([
      ...recentlyFunded.slice(-CANDIDATES),
      ...recentlyFunded.slice(0, CANDIDATES),
      ...internalOnly.slice(0, INTERNAL_CANDIDATES).map(([address]) => address),
    ]),
  ];
}

/** Funder by funder, until a wallet has none or one that is already in the chain. */
function followFunders(ledger: Ledger, address: Hex): FundingHop[] {
  const hops: FundingHop[] = [];
  const visited = new Set([address]);
  let funded = address;
  while (hops.length < MAX_HOPS) {
    const funding = firstFunding(ledger, funded);
    if (!funding || visited.has(funding.funder)) break;
    const { funder, amountWei, txHash, block, source } = funding;
    hops.push({ hop: hops.length + 1, funded, funder, amountWei, txHash, block, source });
    visited.add(funder);
    funded = funder;
  }
  return hops;
}

/** The first direct funding, else the first internal one. */
function firstFunding(ledger: Ledger, address: Hex): (Funding & Pick<FundingHop, 'source'>) | null {
  const facts = ledger.wallets.get(address);
  if (facts?.firstDirect) return { ...facts.firstDirect, source: 'direct' };
  if (facts?.firstInternal) return { ...facts.firstInternal, source: 'internal' };
  return null;
}

/** The three funders of the largest numbers of wallets' first coins. */
export function coordinatedWallets(ledger: Ledger): ExpectedCoordination[] {
  const groups = new Map<Hex, ExpectedCoordination['first20']>();
  for (const address of ledger.wallets.keys()) {
    if (address === ZERO_ADDRESS) continue;
    const funding = firstFunding(ledger, address);
    if (!funding) continue;
    const { funder, amountWei, txHash, block } = funding;
    const group = groups.get(funder);
    if (group) group.push({ address, amountWei, txHash, block });
    else groups.set(funder, [{ address, amountWei, txHash, block }]);
  }
  return [...groups]
    .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
    .slice(0, 3)
    .map(([funder, wallets]) => ({
      funder,
      wallets: wallets.length,
      first20: wallets.toSorted((a, b) => a.block - b.block).slice(0, 20),
    }));
}
