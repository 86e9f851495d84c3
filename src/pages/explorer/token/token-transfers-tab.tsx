/** The transfers of a token from the node's logs, newest first, page by page back in time. */
import { useState } from 'preact/hooks';
import type { TokenKindName } from '../../../model/transfer-kind.ts';
import type { Answered, Api } from '../../client/api.ts';
import type { NodeLog } from '../../client/node-types.ts';
import { type Cursor, usePages } from '../../client/use-pages.ts';
import { Address, BlockLink, TransactionLink } from '../../ui/address.tsx';
import { TransferAmount } from '../../ui/amount.tsx';
import { countText } from '../../ui/format.ts';
import { Arrow } from '../../ui/icons.tsx';
import { More } from '../../ui/more.tsx';
import { Loading, Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useStatus } from '../chain-state.tsx';
import { decodeTransfer, type TokenEvent, TRANSFER_TOPICS } from './token-logs.ts';
import type { TokenTabProps } from './token-tab-props.ts';

/** Blocks per page. Every node answers this many at once. */
const BLOCKS = 1_000;

interface EventPage {
  events: TokenEvent[];
  /** The last block of the next page. */
  nextCursor: Cursor;
}

export function TokenTransfersTab({ stats }: TokenTabProps) {
  const status = useStatus();
  // The head when the tab was opened, because pages must not shift as the chain grows.
  const [head, setHead] = useState<number | null>(null);
  if (head === null && status?.head) setHead(status.head.number);
  if (head !== null) return <List key={stats.token} stats={stats} head={head} />;
  if (status === undefined) return <Loading />;
  return (
    <p class="notice wait" role="alert">
      {status === null ? 'The server cannot be reached.' : 'No block is indexed yet.'} The view retries by
      itself.
    </p>
  );
}

function List({ stats, head }: { stats: TokenTabProps['stats']; head: number }) {
  const { token, firstSeenBlock, type, estimateReason } = stats;
  const viewKind = estimateReason === null ? null : type;
  const pages = usePages(
    `token transfers ${token}`,
    (api, cursor, signal) =>
      loadEvents(api, { token, viewKind }, Number(cursor ?? head), firstSeenBlock ?? 0, signal),
    ({ events }): readonly TokenEvent[] => events,
  );
  return (
    <Section
      id="transfers"
      title="Transfers"
      note={`From the node's logs, newest first, ${countText(BLOCKS, 'block')} at a time.`}
      loaded={pages}
    >
      {(events) => (
        <>
          <Table
            caption="Transfers of the token"
            columns={columnsFor(stats)}
            rows={events}
            rowKey={({ key }) => key}
            empty={pages.more === null ? 'No transfers.' : 'None in these blocks: load more.'}
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

async function loadEvents(
  api: Api,
  { token, viewKind }: { token: string; viewKind: TokenKindName | null },
  to: number,
  first: number,
  signal: AbortSignal,
): Promise<Answered<EventPage>> {
  const from = Math.max(first, to - BLOCKS + 1);
  const hex = (block: number) => `0x${block.toString(16)}`;
  const filter = { address: token, fromBlock: hex(from), toBlock: hex(to), topics: [TRANSFER_TOPICS] };
  const { data, exchange } = await api.rpc<NodeLog[]>('eth_getLogs', [filter], signal);
  const events = data.flatMap((log) => decodeTransfer(log, viewKind)).reverse();
  return { data: { events, nextCursor: from > first ? from - 1 : null }, exchange };
}

function columnsFor({ decimals }: TokenTabProps['stats']): Column<TokenEvent>[] {
  return [
    { title: 'Transaction', plain: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
    { title: 'Block', plain: true, cell: ({ block }) => <BlockLink block={block} /> },
    { title: 'From', plain: true, cell: ({ from }) => <Address address={from} /> },
    { title: '', plain: true, tableOnly: true, cell: () => <Arrow /> },
    { title: 'To', plain: true, cell: ({ to }) => <Address address={to} /> },
    {
      title: 'Amount',
      plain: true,
      number: true,
      cell: ({ amount, tokenId, transferType }) => (
        <TransferAmount units={amount} decimals={decimals} tokenId={tokenId} transferType={transferType} />
      ),
    },
  ];
}
