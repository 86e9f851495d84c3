/** Logs that look like transfers but are not: counts by reason and by contract, with example transactions. */
import { Address, TransactionLink } from '../../ui/address.tsx';
import { grouped } from '../../ui/format.ts';
import { Table } from '../../ui/table.tsx';
import type { AdminAnswers } from '../admin-api.ts';

type Status = AdminAnswers['index']['status'];

const REASONS: Record<string, string> = {
  transfer_topics: 'A Transfer with an unusual number of topics',
  transfer_one_indexed: 'A Transfer with one of its addresses in its topics, which may be either side',
  transfer_data: 'A Transfer whose data is not one amount (ERC-20) or empty (ERC-721)',
  single_shape: 'A TransferSingle of ERC-1155 without four topics and two words of data',
  batch_shape: 'A TransferBatch of ERC-1155 with broken lists, or with more ids than amounts',
  consecutive_shape: 'A ConsecutiveTransfer of ERC-2309 that violates its standard',
  consecutive_range: 'A ConsecutiveTransfer of ERC-2309 over more than 10,000 ids, the limit for expansion',
  wrapped_shape: 'A Deposit or Withdrawal of the wrapped coin without an account and an amount',
  staking_shape: 'A log of the staking contract that violates its interface',
  dirty_address: 'An address whose unused upper bytes are not zero',
  selfdestruct_shape:
    'A SELFDESTRUCT in a trace without account, receiver or balance; its block lacks a transfer',
  frame_type: 'A payment in a trace by a call of unknown type; its block lacks a transfer',
};

export function SkippedSection({ status }: { status: Status }) {
  const { skippedLogs, skippedIn, skippedContracts, head } = status;
  const rows = Object.entries(skippedLogs)
    .map(([reason, logs]) => ({ reason, logs, hash: skippedIn[reason] }))
    .sort((a, b) => b.logs - a.logs);
  return (
    <section class="section" aria-label="Skipped logs">
      <header>
        <h2>Skipped logs</h2>
        {rows.length > 0 && (
          <p class="soft small">
            Logs that look like transfers but are not, since the index was made. The counts are estimates.
          </p>
        )}
      </header>
      {rows.length === 0 ? (
        <p class="notice">{head === null ? 'No block is indexed.' : 'None in this index.'}</p>
      ) : (
        <>
          <Table
            caption="Skipped logs"
            rows={rows}
            rowKey={({ reason }) => reason}
            columns={[
              {
                title: 'Reason',
                plain: true,
                cell: ({ reason }) => (
                  <>
                    {REASONS[reason] ?? 'Other reason'} <code class="soft">{reason}</code>
                  </>
                ),
              },
              { title: 'Logs', number: true, cell: ({ logs }) => grouped(logs) },
              {
                title: 'Example',
                cell: ({ hash }) => (hash === undefined ? 'no example' : <TransactionLink hash={hash} />),
              },
            ]}
          />
          <ContractsTable contracts={skippedContracts} />
        </>
      )}
    </section>
  );
}

/** Empty where only payments in traces were skipped, which are counted without a contract. */
function ContractsTable({ contracts }: { contracts: Status['skippedContracts'] }) {
  return (
    <Table
      caption="Contracts with the most skipped logs"
      rows={contracts}
      rowKey={({ contract, reason }) => `${contract} ${reason}`}
      empty="No contract logged them: they are payments in traces."
      columns={[
        { title: 'Contract', plain: true, cell: ({ contract }) => <Address address={contract} /> },
        { title: 'Reason', cell: ({ reason }) => <code>{reason}</code> },
        { title: 'Logs', number: true, cell: ({ logs }) => grouped(logs) },
        { title: 'Example', cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
      ]}
    />
  );
}
