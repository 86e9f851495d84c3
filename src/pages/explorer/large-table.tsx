/** Large transfers of the native coin as rows. */
import type { Answers } from '../client/answers.ts';
import { Address, BlockLink, labelOf, TransactionLink } from '../ui/address.tsx';
import { Amount } from '../ui/amount.tsx';
import { Arrow } from '../ui/icons.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { COIN } from './coin.ts';

type LargeTransfer = Answers['whale_transfers']['transfers'][number];

const COLUMNS: Column<LargeTransfer>[] = [
  { title: 'Transaction', plain: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
  { title: 'Block', wideOnly: true, cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
  { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: 'From',
    plain: true,
    side: 'from',
    cell: (row) => <Address address={row.from} label={labelOf(row, 'from')} />,
  },
  { title: '', plain: true, tableOnly: true, cell: () => <Arrow /> },
  {
    title: 'To',
    plain: true,
    side: 'to',
    cell: (row) => <Address address={row.to} label={labelOf(row, 'to')} />,
  },
  {
    title: 'Amount',
    plain: true,
    number: true,
    cell: ({ amount }) => <Amount text={trimmed(amount)} symbol={COIN} />,
  },
];

interface LargeTableProps {
  transfers: readonly LargeTransfer[];
  without?: readonly string[];
}

export function LargeTable({ transfers, without = [] }: LargeTableProps) {
  return (
    <Table
      caption="Large transfers"
      columns={COLUMNS.filter(({ title }) => !without.includes(title))}
      rows={transfers}
      rowKey={({ txHash, eventIndex }) => `${txHash}${eventIndex}`}
      empty="No large transfers."
    />
  );
}

/** Removes trailing zeros. */
function trimmed(amount: string): string {
  return amount.replace(/\.?0+$/, '');
}
