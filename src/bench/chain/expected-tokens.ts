/** What the index must answer about tokens. */
import { ZERO_ADDRESS } from '../../lib/address.ts';
import type { Hex } from '../../types.ts';
import type { ExpectedToken } from './expected.ts';
import type { TokenFacts, TokenKind } from './facts.ts';
import type { Ledger } from './ledger.ts';

const LISTED = 20;

/** How many tokens of each kind moved. */
export function distinctTokens(ledger: Ledger, huge: Hex): Record<TokenKind, number> {
  return {
    erc20: busiest(ledger, 'erc20', huge).length + (ledger.tokens.has(huge) ? 1 : 0),
    erc721: busiest(ledger, 'erc721', huge).length,
    erc1155: busiest(ledger, 'erc1155', huge).length,
  };
}

/** The three busiest ERC-20, the busiest ERC-721 and ERC-1155, and the token with the huge amounts. */
export function chosenTokens(ledger: Ledger, huge: Hex): ExpectedToken[] {
  const addresses = [
    ...busiest(ledger, 'erc20', huge).slice(0, 3),
    ...busiest(ledger, 'erc721', huge).slice(0, 1),
    ...busiest(ledger, 'erc1155', huge).slice(0, 1),
    huge,
  ];
  return addresses.flatMap((address) => {
    const facts = ledger.tokens.get(address);
    return facts ? [describe(address, facts)] : [];
  });
}

/** Tokens of a kind, the huge one left out, by transfers descending, then address. */
function busiest(ledger: Ledger, kind: TokenKind, huge: Hex): Hex[] {
  return [...ledger.tokens]
    .filter(([address, facts]) => facts.kind === kind && address !== huge)
    .sort(([a, x], [b, y]) => y.rows - x.rows || (a < b ? -1 : 1))
    .map(([address]) => address);
}

function describe(token: Hex, facts: TokenFacts): ExpectedToken {
  const holders = [...facts.balances]
    .filter(([address, balance]) => balance > 0n && address !== ZERO_ADDRESS)
    .sort(byBalance);
  return {
    token,
    standard: facts.kind,
    transferRows: facts.rows,
    holdersWithPositiveBalance: holders.length,
    uniqueWalletsExcludingZero: facts.wallets.size,
    firstSeenBlock: facts.firstBlock,
    firstSeenTimestamp: facts.firstTimestamp,
    topHolders: holders
      .slice(0, LISTED)
      .map(([address, balance]) => ({ address, balance: balance.toString() })),
    firstReceivers: [...facts.receivers.values()].slice(0, LISTED),
  };
}

function byBalance([a, x]: [Hex, bigint], [b, y]: [Hex, bigint]): number {
  if (x !== y) return x > y ? -1 : 1;
  return a < b ? -1 : 1;
}
