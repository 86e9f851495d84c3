/** The lists that trades are told by, in ids of the index. */
import { type ConfiguredTradeLists, newTradeRules, type TradeRules } from '../model/trade-rules.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { chainOf } from '../store/chain.ts';
import { readRules } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import type { Head } from './snapshot.ts';
import { prepareTokenIdByWallet } from './tokens.ts';
import type { WalletIdCache } from './wallet-id-cache.ts';

/** Most tokens whose form is remembered; some hundred KB. */
const FORMS_KEPT = 4_096;

/** The lists as of a head. A token gets its id with its first transfer, so the lists grow along the chain. */
export function prepareTradeIds(
  db: Db,
  walletIds: WalletIdCache,
  configured: ConfiguredTradeLists = {},
): (head: Head) => TradeIds {
  const tokenOf = prepareTokenIdByWallet(db);
  const formOf = prepareTokenForm(db);
  let readAt = { hash: '', revision: -1 };
  let ids: TradeIds | null = null;
  const idsOf = (addresses: readonly string[], idOf: (address: string) => number | undefined) =>
    new Set(addresses.map(idOf).filter((id) => id !== undefined));
  return (head) => {
    if (ids !== null && readAt.revision === head.revision && readAt.hash === head.hash) return ids;
    const rules = rulesOf(db, configured);
    const tokenAt = (address: string) => walletIds.withId(address, tokenOf);
    const forms = new Map<number, number | undefined>();
    ids = {
      zero: ZERO_WALLET,
      feeSinks: idsOf(rules.feeSinks, (address) => walletIds.idOf(address)),
      nativeEquivalents: idsOf(rules.nativeEquivalents, tokenAt),
      quoteTokens: idsOf(rules.quoteTokens, tokenAt),
      countsUnits(token) {
        if (forms.size >= FORMS_KEPT) forms.clear();
        if (!forms.has(token)) forms.set(token, formOf(token));
        return forms.get(token) === TransferKind.erc20;
      },
    };
    readAt = { hash: head.hash, revision: head.revision };
    return ids;
  };
}

function rulesOf(db: Db, configured: ConfiguredTradeLists): TradeRules {
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
