/** What the index must answer about wallets, for 20 of them that differ in kind. */
import { ZERO_ADDRESS } from '../../lib/address.ts';
import type { Hex } from '../../types.ts';
import type { ExpectedWallet } from './expected.ts';
import type { WalletFacts } from './facts.ts';
import type { Ledger } from './ledger.ts';

type Wallet = [address: Hex, facts: WalletFacts];

/** Busy wallets, wallets only funded internally, wallets with a single native transfer, and middling ones funded both ways. */
export function chosenWallets(ledger: Ledger, contracts: ReadonlySet<Hex>): ExpectedWallet[] {
  const people = [...ledger.wallets].filter(
    ([address]) => !contracts.has(address) && address !== ZERO_ADDRESS,
  );
  const busy = people.toSorted(byActivity);
  const middling = busy.slice(Math.floor(busy.length / 4));
  const internalOnly = ([, facts]: Wallet) => facts.firstInternal && !facts.firstDirect;
  const receivedOnce = ([, facts]: Wallet) => facts.firstDirect && facts.nativeIn === 1;
  const fundedBothWays = ([, facts]: Wallet) => facts.firstDirect && facts.firstInternal;

  const chosen = new Map<Hex, WalletFacts>();
  take(chosen, 8, busy);
  take(chosen, 4, busy.filter(internalOnly));
  take(chosen, 4, people.filter(receivedOnce));
  take(chosen, 4, middling.filter(fundedBothWays));
  return [...chosen].map(describe);
}

/** Adds the first `count` wallets that are not chosen yet. */
function take(chosen: Map<Hex, WalletFacts>, count: number, wallets: Wallet[]): void {
  const wanted = chosen.size + count;
  for (const [address, facts] of wallets) {
    if (chosen.size >= wanted) return;
    chosen.set(address, facts);
  }
}

/** By native transfers descending, then address. */
function byActivity([a, x]: Wallet, [b, y]: Wallet): number {
  return y.nativeIn + y.nativeOut - x.nativeIn - x.nativeOut || (a < b ? -1 : 1);
}

function describe([address, facts]: Wallet): ExpectedWallet {
  return {
    address,
    nativeInWei: (facts.inDirect + facts.inInternal).toString(),
    nativeOutWei: (facts.outDirect + facts.outInternal).toString(),
    nativeInDirectWei: facts.inDirect.toString(),
    nativeInInternalWei: facts.inInternal.toString(),
    nativeOutDirectWei: facts.outDirect.toString(),
    nativeOutInternalWei: facts.outInternal.toString(),
    nativeTransfersIn: facts.nativeIn,
    nativeTransfersOut: facts.nativeOut,
    transactionsSent: facts.sent,
    uniqueTokens: facts.tokens.size,
    firstDirectFunding: facts.firstDirect,
    firstInternalFunding: facts.firstInternal,
    latestNativeIn: latestNativeIn(facts),
  };
}

function latestNativeIn(facts: WalletFacts): ExpectedWallet['latestNativeIn'] {
  if (facts.latestDirect) return { ...facts.latestDirect, kind: 'native' };
  if (facts.latestInternal) return { ...facts.latestInternal, kind: 'internal' };
  return null;
}
