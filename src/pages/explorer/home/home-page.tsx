/** The chain at a glance, live. */
import { useEffect } from 'preact/hooks';
import type { ExampleAddress } from '../../../model/address.ts';
import type { Answers, Status, Transfer } from '../../client/answers.ts';
import { useFirstBlock, useRecentTransfers } from '../../client/recent-transfers.ts';
import { type Loaded, useAnswer } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf } from '../../ui/address.tsx';
import { Sparkline } from '../../ui/chart.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { byteSize, duration, grouped, shortAmount } from '../../ui/format.ts';
import { addressPath, Link } from '../../ui/link.tsx';
import { metaContent, useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { describeState, useStatus } from '../chain-state.tsx';
import { COIN } from '../coin.ts';
import { LargeTable } from '../large-table.tsx';
import { TokenTable, windowText } from '../lists/tokens-page.tsx';
import { LiveState } from '../live-state.tsx';
import { TransferTable } from '../transfer-table.tsx';

type Stats = Answers['chain_stats'];
type Block = Answers['latest_blocks']['blocks'][number];

/** Suggested by the server. Only the server of the demo chain suggests any. */
const EXAMPLES: readonly ExampleAddress[] = JSON.parse(metaContent('examples') || '[]');

/** Blocks in the lines beside the figures. The newest of them are listed. */
const BLOCKS = 40;
const LISTED = 8;

export function HomePage() {
  useTitle('Explorer');
  const status = useStatus();
  const head = status?.head?.number;
  const { transfers, state } = useRecentTransfers(LISTED, useFirstBlock(status));
  const latest = useAnswer('latest_blocks', { limit: BLOCKS });
  useEffect(latest.reload, [head]);
  const blocks = latest.data?.blocks ?? [];
  const stats = useAnswer('chain_stats', {});
  const still = { exchanges: [], error: null, loading: false, reload: () => undefined };
  return (
    <>
      <h1 class="hidden-text">The chain at a glance</h1>
      {status && <Glance status={status} blocks={blocks} stats={stats.data} />}
      {EXAMPLES.length > 0 && <Examples />}
      <div class="columns uneven">
        <Section
          id="blocks"
          title="Latest blocks"
          note="Counted in the index: transactions with transfers."
          loaded={latest}
          controls={<LiveState state={state} />}
        >
          {({ blocks }) => <BlockTable blocks={blocks.slice(0, LISTED)} />}
        </Section>
        <Section
          id="large"
          title="Large transfers"
          loaded={useAnswer('whale_transfers', { min_mon: 100, limit: LISTED })}
        >
          {(answer) => (
            <>
              <LargeTable transfers={answer.transfers} without={['Block']} />
              <p class="pager small">
                <Link to="/large">All large transfers</Link>
              </p>
            </>
          )}
        </Section>
      </div>
      <Section
        id="transfers"
        title="Latest transfers"
        loaded={{ ...still, data: transfers }}
        rows={transfers}
      >
        {(rows: readonly Transfer[]) => (
          <>
            <TransferTable
              caption="Latest transfers"
              transfers={rows}
              empty="Waiting for the next transfer …"
            />
            <p class="pager small">
              <Link to="/live">All live transfers</Link>
            </p>
          </>
        )}
      </Section>
      <MostActive stats={stats} />
    </>
  );
}

interface GlanceProps {
  status: Status;
  blocks: readonly Block[];
  stats: Stats | undefined;
}

function Glance({ status, blocks, stats }: GlanceProps) {
  const rates = stats?.perMinute.hour;
  const { head, headTimestamp, lagSeconds, transfers } = status;
  const { lamp, title } = describeState(status);
  const perBlock = [...blocks].reverse();
  const perSecond = (rate: number) => `${shortAmount((rate / 60).toFixed(2))} per second in the last hour`;
  const facts: (Fact | null)[] = [
    {
      name: 'Head',
      value: head === null ? 'none' : <BlockLink block={head.number} />,
      note: (
        <span class="chain" title={title}>
          <span class={`lamp ${lamp}`} aria-hidden="true" />
          {lagSeconds === null || headTimestamp === null ? 'no block yet' : `${duration(lagSeconds)} old`}
        </span>
      ),
    },
    {
      name: 'Transfers indexed',
      value: grouped(transfers),
      note: stats && `${byteSize(stats.indexBytes)} on disk`,
    },
    {
      name: 'Transfers per block',
      value: (
        <Sparkline label="Transfers per block" values={perBlock.map(({ transferCount }) => transferCount)} />
      ),
      note: rates && perSecond(rates.transfers),
    },
    {
      name: 'Transactions per block',
      value: (
        <Sparkline
          label="Transactions per block"
          values={perBlock.map(({ transactionCount }) => transactionCount)}
        />
      ),
      note: rates && perSecond(rates.transactions),
    },
    rates === undefined
      ? null
      : {
          name: 'New wallets',
          value: shortAmount(rates.newWallets.toFixed(1)),
          note: 'per minute in the last hour',
        },
  ];
  return <Facts facts={facts} />;
}

function Examples() {
  return (
    <nav class="examples" aria-label="Examples">
      {EXAMPLES.map(({ name, about, address }) => (
        <Link key={address} to={addressPath(address)}>
          <b>{name}</b> <span class="soft small">{about}</span>
        </Link>
      ))}
    </nav>
  );
}

function BlockTable({ blocks }: { blocks: readonly Block[] }) {
  return (
    <Table
      caption="Latest blocks"
      columns={[
        { title: 'Block', plain: true, cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
        { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
        {
          title: 'Transactions',
          number: true,
          cell: ({ transactionCount }) => grouped(transactionCount),
        },
        { title: 'Transfers', number: true, cell: ({ transferCount }) => grouped(transferCount) },
      ]}
      rows={blocks}
      rowKey={({ blockNumber }) => blockNumber}
      empty="Waiting for the first block …"
    />
  );
}

function MostActive({ stats }: { stats: Loaded<Stats> }) {
  const tokens = stats.data?.topTokens.slice(0, LISTED);
  const wallets = stats.data?.topWallets.slice(0, LISTED);
  return (
    <div class="columns">
      <Section
        id="tokens"
        title="Most active tokens"
        note={windowText(stats.data)}
        loaded={{ ...stats, data: tokens }}
        rows={tokens}
      >
        {(rows) => <TokenTable tokens={rows} />}
      </Section>
      <Section
        id="wallets"
        title="Most active wallets"
        note={windowText(stats.data, `of ${COIN} and tokens `)}
        loaded={{ ...stats, data: wallets }}
        rows={wallets}
      >
        {(rows) => (
          <Table
            caption="Most active wallets"
            columns={[
              {
                title: 'Wallet',
                plain: true,
                cell: (row) => <Address address={row.address} label={labelOf(row, 'address')} />,
              },
              { title: 'Transfers', number: true, cell: ({ transferCount }) => grouped(transferCount) },
            ]}
            rows={rows}
            rowKey={({ address }) => address}
            empty="No wallet has moved anything recently."
          />
        )}
      </Section>
    </div>
  );
}
