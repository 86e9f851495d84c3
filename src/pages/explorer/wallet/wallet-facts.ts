/** What a wallet's page loads first: one request to the index and one to the node. */
import type { Answers } from '../../client/answers.ts';
import type { Api } from '../../client/api.ts';
import { apiErrorOf } from '../../client/api-error.ts';
import type { Bundle } from '../../client/use-answer.ts';
import { type AddressLabel, labelOf } from '../../ui/address.tsx';

type Entry = NonNullable<Answers['wallets/batch']['wallets'][string]>;

/** The facts of a wallet with transfers. */
export type WalletActivity = Required<Pick<Entry, 'summary' | 'funding' | 'labels' | 'tokens'>>;

export interface WalletFacts {
  label: AddressLabel | null;
  /** Null without any transfer in the index. */
  activity: WalletActivity | null;
  /** The first block of the index. */
  startBlock: number;
}

export async function loadFacts(
  api: Api,
  address: string,
  signal: AbortSignal,
): Promise<Bundle<WalletFacts>> {
  const body = JSON.stringify({
    addresses: [address],
    fields: ['summary', 'funding', 'labels', 'tokens'],
  });
  const batch = await api.send<Answers['wallets/batch']>('POST', '/api/wallets/batch', body, signal);
  const { summary, funding, labels, tokens } = batch.data.wallets[address] ?? {};
  const startBlock = batch.data.historicalCoverageStartBlock;
  if (summary !== undefined && funding !== undefined && labels !== undefined && tokens !== undefined) {
    const activity = { summary, funding, labels, tokens };
    return { data: { label: labelOf(labels, 'address'), activity, startBlock }, exchanges: [batch.exchange] };
  }
  // The batch says nothing of an address without transfers, but it may have a label.
  const label = await api.get('wallet_label', { address }, signal);
  return {
    data: { label: labelOf(label.data, 'address'), activity: null, startBlock },
    exchanges: [batch.exchange, label.exchange],
  };
}

export interface NodeFacts {
  /** Wei. */
  balance: bigint;
  hasCode: boolean;
}

/** Code of an account that delegates to a contract (EIP-7702): it stays a wallet. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

const METHODS = ['eth_getBalance', 'eth_getCode'] as const;

export async function loadNodeFacts(
  api: Api,
  address: string,
  signal: AbortSignal,
): Promise<Bundle<NodeFacts>> {
  const calls = METHODS.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [address, 'latest'] }));
  const { data, exchange } = await api.send<{ id: number; result?: string }[]>(
    'POST',
    '/rpc',
    JSON.stringify(calls),
    signal,
  );
  const [balance, code] = METHODS.map((_, id) => data.find((reply) => reply.id === id)?.result);
  if (balance === undefined || code === undefined)
    throw apiErrorOf(
      502,
      data.find(({ result }) => result === undefined),
    );
  const hasCode = code !== '0x' && !DELEGATION.test(code);
  return { data: { balance: BigInt(balance), hasCode }, exchanges: [exchange] };
}
