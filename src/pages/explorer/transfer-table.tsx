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
import { gapRowsText } from './missing.ts';

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
  const missing = gapRowsText(transfers);
  return (
    <>
      <Table
        caption={caption}
        columns={columns.filter(({ title }) => !without.some((name) => name === title))}
        rows={transfers}
        rowKey={({ txHash, eventIndex }) => `${txHash}${eventIndex}`}
        empty={empty}
      />
      {missing !== null && <p class="pager soft small">{missing}</p>}
    </>
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
    { title: 'From', plain: true, side: 'from', cell: (row) => party(row, 'from') },
    {
      title: wallet === undefined ? '' : 'Direction',
      plain: true,
      tableOnly: true,
      cell: (row) => (wallet === undefined ? <Arrow /> : <Direction transfer={row} />),
    },
    { title: 'To', plain: true, side: 'to', cell: (row) => party(row, 'to') },
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
      cell: (row) => (
        <>
          <TransferAmount
            units={row.amount}
            token={row.tokenAddress}
            decimals={row.decimals}
            tokenId={row.tokenId}
            transferType={row.transferType}
            sign={wallet === undefined || row.from === row.to ? null : (row.direction ?? null)}
          />
          <span class="card-only">
            {' '}
            <Token transfer={row} />
          </span>
        </>
      ),
    },
    {
      title: 'Token',
      tableOnly: true,
      cell: (row) => <Token transfer={row} />,
    },
    {
      title: 'Kind',
      wideOnly: true,
      cell: ({ transferType }) => <span class="soft small nowrap">{kindText(transferType)}</span>,
    },
  ];
}

function Token({ transfer: { tokenAddress, symbol } }: { transfer: Transfer }) {
  return tokenAddress === null ? (
    <span class="soft">{COIN}</span>
  ) : (
    <TokenLink token={tokenAddress} symbol={symbol} />
  );
}
