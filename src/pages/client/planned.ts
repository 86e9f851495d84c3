/** Answers of endpoints whose definitions are not there yet. */
import type { AddressLabel } from '../ui/address.tsx';

interface Page {
  count: number;
  nextCursor: string | null;
}

interface PlannedTransfer {
  id: number;
  blockNumber: number;
  txHash: string;
  transferType: 'native_direct' | 'native_internal' | 'erc20' | 'erc721' | 'erc1155';
  from: string;
  to: string;
  fromLabel?: AddressLabel | null;
  toLabel?: AddressLabel | null;
  tokenAddress: string | null;
  tokenId: string | null;
  symbol: string | null;
  decimals: number | null;
  amount: string;
  timestamp: string;
  logIndex: number | null;
  eventIndex: number;
}

export interface PlannedAnswers {
  wallet_tokens: Page & {
    address: string;
    tokens: {
      tokenAddress: string;
      name: string | null;
      symbol: string | null;
      decimals: number | null;
      type: string;
      balance: string;
      transferCount: number;
      lastBlock: number;
      lastSeenAt: string;
      accuracy: string | null;
    }[];
  };
  transaction_transfers: Page & { transfers: PlannedTransfer[] };
  block_transfers: Page & { transfers: PlannedTransfer[] };
  search: {
    results: {
      kind: 'wallet' | 'token' | 'transaction' | 'block' | 'label';
      value: string;
      name: string | null;
      symbol: string | null;
      detail: string | null;
    }[];
  };
  chain_stats: {
    head: number;
    headAgeSeconds: number;
    perMinute: { transfers: number[]; transactions: number[]; newWallets: number[] };
    topTokens: { tokenAddress: string; symbol: string | null; name: string | null; transferCount: number }[];
    topWallets: { address: string; transferCount: number; addressLabel?: AddressLabel | null }[];
  };
}
