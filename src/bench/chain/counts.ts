/** How often each thing happened in a generated chain. */
export type Counts = ReturnType<typeof zeroCounts>;

/** All counters at zero; the order is that of the written report. */
export function zeroCounts() {
  return {
    /** Successful transactions with value. */
    native: 0,
    nativeToNewContract: 0,
    nativeZeroValue: 0,
    /** Native transfers, direct or internal, to oneself. */
    nativeSelf: 0,
    internal: 0,
    erc20: 0,
    erc20Zero: 0,
    erc20Self: 0,
    erc721: 0,
    erc1155Single: 0,
    erc1155BatchRows: 0,
    erc1155BatchLogs: 0,
    emptyBatchLogs: 0,
    mintsErc20: 0,
    burnsErc20: 0,
    mintsErc721: 0,
    burnsErc721: 0,
    mintsErc1155: 0,
    burnsErc1155: 0,
    malformedLogs: 0,
    otherLogs: 0,
    logs: 0,
    transactions: 0,
    failedTransactions: 0,
    contractCreations: 0,
    revertedFramesWithValue: 0,
    failedTransactionsWithValue: 0,
  };
}
