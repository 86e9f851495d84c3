/** Large transfers of the native coin as rows. */
import type { Answers } from '../client/answers.ts';
import { Address, type AddressLabel, BlockLink, TransactionLink } from '../ui/address.tsx';
import { Amount } from '../ui/amount.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { COIN } from './coin.ts';

export type LargeTransfer = Answers['whale_transfers']['transfers'][number] & {
  fromLabel?: AddressLabel | null;
  toLabel?: AddressLabel | null;
};

const COLUMNS: Column<LargeTransfer>[] = [
  { title: 'Transaction', plain: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
  { title: 'Block', wideOnly: true, cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
  { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  { title: 'From', plain: true, cell: ({ from, fromLabel }) => <Address address={from} label={fromLabel} /> },
  { title: '→', plain: true, cell: () => <span class="soft">→</span> },
  { title: 'To', plain: true, cell: ({ to, toLabel }) => <Address address={to} label={toLabel} /> },
  {
    title: 'Amount',
    plain: true,
    number: true,
    cell: ({ amount }) => <Amount text={trimmed(amount)} symbol={COIN} />,
  },
];

export function LargeTable({ transfers }: { transfers: readonly LargeTransfer[] }) {
  return (
    <Table
      caption="Large transfers"
      columns={COLUMNS}
      rows={transfers}
      rowKey={({ txHash, eventIndex }) => `${txHash}${eventIndex}`}
      empty="There is none."
    />
  );
}

/** Without the zeros at its end. */
function trimmed(amount: string): string {
  return amount.replace(/\.?0+$/, '');
}
