/** The endpoints of the REST API, one line each. */
import { addressTransfers } from './address-transfers.ts';
import type { Endpoint } from './endpoint.ts';
import { latestNativeIn } from './latest-native-in.ts';
import { walletFundingSource } from './wallet-funding-source.ts';
import { walletSummary } from './wallet-summary.ts';
import { walletsBatch } from './wallets-batch.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  addressTransfers,
  walletSummary,
  walletFundingSource,
  latestNativeIn,
  walletsBatch,
];
