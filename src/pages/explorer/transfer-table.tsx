/** Transfers as table rows, for every list of transfers. */
import type { ComponentChildren } from 'preact';
import type { Transfer } from '../client/answers.ts';
import { Address, BlockLink, labelOf, TokenLink, TransactionLink } from '../ui/address.tsx';
import { TransferAmount } from '../ui/amount.tsx';
import { kindText } from '../ui/format.ts';
import { Arrow } from '../ui/icons.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { COIN } from './coin.ts';

interface TransferTableProps {
  caption: string;
  transfers: readonly Transfer[];
  /** The wallet that the page shows. */
  wallet?: string;
  /** Columns to omit because all rows have the same value. */
  without?: readonly ('Transaction' | 'Block' | 'Time' | 'Token')[];
  empty?: string;
  /** What to say of a transfer, beside the other side's address. */
  noteOf?: (transfer: Transfer) => ComponentChildren;
}

export function TransferTable(props: TransferTableProps) {
  const { caption, transfers, wallet, without = [], empty, noteOf } = props;
  const columns = [...leadingColumns(), ...partyColumns(wallet, noteOf), ...amountColumns(wallet)];
  return (
    <Table
      caption={caption}
      columns={columns.filter(({ title }) => !without.some((name) => name === title))}
      rows={transfers}
      rowKey={({ txHash, eventIndex }) => `${txHash}${eventIndex}`}
      empty={empty}
    />
  );
}

function leadingColumns(): Column<Transfer>[] {
  return [
    { title: 'Transaction', plain: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
    { title: 'Block', wideOnly: true, cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
    { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  ];
}

function partyColumns(wallet: string | undefined, noteOf: TransferTableProps['noteOf']): Column<Transfer>[] {
  const party = (row: Transfer, side: 'from' | 'to') => (
    <>
      <Address address={row[side]} label={labelOf(row, side)} here={row[side] === wallet} />
      {row[side] !== wallet && noteOf?.(row)}
    </>
  );
  return [
    { title: 'From', plain: true, cell: (row) => party(row, 'from') },
    {
      title: wallet === undefined ? '' : 'Direction',
      plain: true,
      tableOnly: true,
      cell: (row) => (wallet === undefined ? <Arrow /> : <Direction transfer={row} />),
    },
    { title: 'To', plain: true, cell: (row) => party(row, 'to') },
  ];
}

function Direction({ transfer: { from, to, direction } }: { transfer: Transfer }) {
  if (from === to) return <span class="way">self</span>;
  return <span class={`way ${direction}`}>{direction}</span>;
}

function amountColumns(wallet: string | undefined): Column<Transfer>[] {
  return [
    {
      title: 'Amount',
      plain: true,
      number: true,
      cell: ({ amount, decimals, tokenAddress, tokenId, transferType, direction, from, to }) => (
        <TransferAmount
          units={amount}
          token={tokenAddress}
          decimals={decimals}
          tokenId={tokenId}
          transferType={transferType}
          sign={wallet === undefined || from === to ? null : (direction ?? null)}
        />
      ),
    },
    {
      title: 'Token',
      plain: true,
      cell: ({ tokenAddress, symbol }) =>
        tokenAddress === null ? (
          <span class="soft">{COIN}</span>
        ) : (
          <TokenLink token={tokenAddress} symbol={symbol} />
        ),
    },
    {
      title: 'Kind',
      wideOnly: true,
      cell: ({ transferType }) => <span class="soft small nowrap">{kindText(transferType)}</span>,
    },
  ];
}
