/** The endpoints of the REST API, one line each. */
export { addressTransfers } from './address-transfers.ts';
export { chainStats } from './chain-stats.ts';
export { blockTransfers, transactionTransfers } from './chain-transfers.ts';
export { coordinatedWallets } from './coordinated-wallets.ts';
export { fundingChain } from './funding-chain.ts';
export { fundingRecipients } from './funding-recipients.ts';
export { recentTokenTransfersOut } from './recent-token-transfers-out.ts';
export { search } from './search.ts';
export { tokenFirstBuyers } from './token-first-buyers.ts';
export { tokenHolders } from './token-holders.ts';
export { tokenStats } from './token-stats.ts';
export { walletCounterparties } from './wallet-counterparties.ts';
export { latestNativeIn, walletFundingSource } from './wallet-funding-source.ts';
export { walletLabel } from './wallet-label.ts';
export { walletSummary } from './wallet-summary.ts';
export { walletTokens } from './wallet-tokens.ts';
export { walletsBatch } from './wallets-batch.ts';
export { whaleTransfers } from './whale-transfers.ts';
