/** A lie that nothing in a node's answers contradicts: events that are no transfers, in place of transfers. */
interface Receipt {
  logs: { topics: string[] }[];
}

const OTHER_EVENT = `0x${'11'.repeat(32)}`;

/** The receipts with another event in place of the logs at which `isHidden` returns true. */
export function hideTransfers(
  receipts: unknown,
  isHidden: (at: number, count: number) => boolean = () => true,
): unknown {
  return (receipts as Receipt[]).map((receipt) => ({
    ...receipt,
    logs: receipt.logs.map((log, i, { length }) =>
      isHidden(i, length) ? { ...log, topics: [OTHER_EVENT, ...log.topics.slice(1)] } : log,
    ),
  }));
}
