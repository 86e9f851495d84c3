/** The lists that trades are told by, in ids of the index. */
import { type ConfiguredTradeLists, newTradeRules, type TradeRules } from '../model/trade-rules.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { chainOf } from '../store/chain.ts';
import { readRules } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { prepareTradeGenerations } from '../store/trades/trade-generations.ts';
import { tradeIdsOf } from '../trades/trade-ids.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import type { Head } from './snapshot.ts';
import { prepareTokenIdByWallet } from './tokens.ts';
import type { WalletIdCache } from './wallet-id-cache.ts';

/** Most tokens whose form is remembered; some hundred KB. */
const FORMS_KEPT = 4_096;

/**
 * The lists of the index as of a head; those of the program and this configuration while it has none. A token gets its
 * id with its first transfer, so the lists grow along the chain.
 */
export function prepareTradeIds(
  db: Db,
  walletIds: WalletIdCache,
  configured: ConfiguredTradeLists = {},
): (head: Head) => TradeIds {
  const tokenOf = prepareTokenIdByWallet(db);
  const formOf = prepareTokenForm(db);
  const rulesAt = prepareTradeRules(db, configured);
  return oncePerHead((head) => {
    const forms = new Map<number, number | undefined>();
    return tradeIdsOf(rulesAt(head), {
      zero: ZERO_WALLET,
      walletOf: (address) => walletIds.idOf(address),
      tokenOf: (address) => walletIds.withId(address, tokenOf),
      countsUnits(token) {
        if (forms.size >= FORMS_KEPT) forms.clear();
        if (!forms.has(token)) forms.set(token, formOf(token));
        return forms.get(token) === TransferKind.erc20;
      },
    });
  });
}

/** The lists by address, for transfers whose addresses have no ids yet. The head is null while the index is empty. */
export function prepareTradeRules(
  db: Db,
  configured: ConfiguredTradeLists = {},
): (head: Head | null) => TradeRules {
  const generations = prepareTradeGenerations(db);
  return oncePerHead(() => generations().current?.rules ?? configuredRules(db, configured));
}

/** Reads again when the head is another. */
function oncePerHead<H extends Head | null, T>(read: (head: H) => T): (head: H) => T {
  let known: { head: Head; value: T } | null = null;
  return (head) => {
    const isSame = known?.head.revision === head?.revision && known?.head.hash === head?.hash;
    if (known !== null && isSame) return known.value;
    const value = read(head);
    if (head !== null) known = { head, value };
    return value;
  };
}

function configuredRules(db: Db, configured: ConfiguredTradeLists): TradeRules {
  const chainId = chainOf(db)?.chainId ?? 0;
  return newTradeRules({ chainId, wrappedNative: readRules(db)?.wrappedNative ?? [], configured });
}

/** The kind of a token's first transfer. */
function prepareTokenForm(db: Db): (token: number) => number | undefined {
  const statement = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = +?').pluck();
  return (token) => statement.get(token);
}

/**
 * The id in trades of a token named by its contract, or of the native coin (null), of which equivalents are a part.
 * Undefined for a contract without transfers.
 */
export function prepareAssetId(
  db: Db,
  walletIds: WalletIdCache,
): (contract: string | null, ids: TradeIds) => number | undefined {
  const tokenOf = prepareTokenIdByWallet(db);
  return (contract, { nativeEquivalents }) => {
    const token = contract === null ? NATIVE : walletIds.withId(contract, tokenOf);
    return token !== undefined && nativeEquivalents.has(token) ? NATIVE : token;
  };
}
