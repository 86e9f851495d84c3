/** The endpoints of the REST API, one line each. */
export { addressTransfers } from './address-transfers.ts';
export { coordinatedWallets } from './coordinated-wallets.ts';
export { fundingChain } from './funding-chain.ts';
export { fundingRecipients } from './funding-recipients.ts';
export { latestNativeIn } from './latest-native-in.ts';
export { recentTokenTransfersOut } from './recent-token-transfers-out.ts';
export { tokenFirstBuyers } from './token-first-buyers.ts';
export { tokenHolders } from './token-holders.ts';
export { tokenStats } from './token-stats.ts';
export { walletCounterparties } from './wallet-counterparties.ts';
export { walletFundingSource } from './wallet-funding-source.ts';
export { walletLabel } from './wallet-label.ts';
export { walletSummary } from './wallet-summary.ts';
export { walletsBatch } from './wallets-batch.ts';
export { whaleTransfers } from './whale-transfers.ts';
