/** Who created a contract, as far as a few requests tell: its first transfers are often of its creation. */
import type { Api, ApiExchange } from '../../client/api.ts';
import type { Bundle } from '../../client/use-answer.ts';
import { type AddressLabel, labelOf } from '../../ui/address.tsx';

export interface Creation {
  creator: string;
  label: AddressLabel | null;
  txHash: string;
}

interface Receipt {
  from?: string;
  contractAddress?: string | null;
}

/**
 * The creation of a contract, if its transaction made one of its first indexed transfers, as a party or as a token.
 * Null where it did not: a creation without value, or by another contract, leaves no transfer.
 */
export async function findCreation(
  api: Api,
  address: string,
  firstBlock: number | null,
  signal: AbortSignal,
): Promise<Bundle<Creation | null>> {
  const exchanges: ApiExchange[] = [];
  const asParty =
    firstBlock === null ? null : await firstOfWallet(api, address, firstBlock, signal, exchanges);
  const asToken = await firstOfToken(api, address, signal, exchanges);
  for (const txHash of new Set([asToken, asParty])) {
    if (txHash === null) continue;
    const { data, exchange } = await api.rpc<Receipt | null>('eth_getTransactionReceipt', [txHash], signal);
    exchanges.push(exchange);
    const made = data?.contractAddress?.toLowerCase() === address;
    if (!made || !data?.from) continue;
    const creator = data.from.toLowerCase();
    const named = await api.get('wallet_label', { address: creator }, signal);
    exchanges.push(named.exchange);
    return { data: { creator, label: labelOf(named.data, 'address'), txHash }, exchanges };
  }
  return { data: null, exchanges };
}

/** The transaction of the first transfer of a wallet, unless its first block has more than a page of them. */
async function firstOfWallet(
  api: Api,
  address: string,
  block: number,
  signal: AbortSignal,
  exchanges: ApiExchange[],
): Promise<string | null> {
  const query = { address, before_block: block, include_internal: 'true', limit: MOST };
  const { data, exchange } = await api.get('address_transfers', query, signal);
  exchanges.push(exchange);
  return data.nextCursor === null ? (data.transfers.at(-1)?.txHash ?? null) : null;
}

async function firstOfToken(
  api: Api,
  token: string,
  signal: AbortSignal,
  exchanges: ApiExchange[],
): Promise<string | null> {
  const stats = await api.get('token_stats', { token }, signal);
  exchanges.push(stats.exchange);
  const { firstSeenBlock } = stats.data;
  if (firstSeenBlock === null) return null;
  const query = { token, before_block: firstSeenBlock, limit: MOST };
  const { data, exchange } = await api.get('token_transfers', query, signal);
  exchanges.push(exchange);
  return data.nextCursor === null ? (data.transfers.at(-1)?.txHash ?? null) : null;
}

/** Transfers of the first block that are read. */
const MOST = 100;
