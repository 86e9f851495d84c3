/** A block: its facts, its transactions with the value each moved, and its transfers. */
import type { Answers } from '../../client/answers.ts';
import { one, useLoaded } from '../../client/use-answer.ts';
import { type Pages, usePages } from '../../client/use-pages.ts';
import { Address, BlockLink } from '../../ui/address.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { grouped, hexTime, percent, shortHex, unitsToText } from '../../ui/format.ts';
import { Arrow } from '../../ui/icons.tsx';
import { blockPath, Link } from '../../ui/link.tsx';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TimeAndAge } from '../../ui/time.tsx';
import { useStatus } from '../chain-state.tsx';
import { useOrderNote } from '../coverage.tsx';
import { NameProvider, useNames } from '../named.tsx';
import { PageTitle } from '../page-title.tsx';
import { TransferTable } from '../transfer-table.tsx';
import { type Block, LISTED, Transactions } from './transactions.tsx';

type Transfer = Answers['block_transfers']['transfers'][number];

const PAGE = 200;
const GWEI_DECIMALS = 9;

export function BlockPage({ block, params }: { block: string; params: URLSearchParams }) {
  const isHash = block.startsWith('0x');
  const facts = useLoaded(`block ${block}`, async (api, signal) => {
    const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber';
    const name = isHash ? block : `0x${Number(block).toString(16)}`;
    return one(await api.rpc<Block | null>(method, [name, true], signal));
  });
  const isMissing = facts.data === null;
  const transfers = usePages(
    `block_transfers ${block}`,
    (api, cursor, signal) => api.get('block_transfers', { block, limit: PAGE, cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
    !isMissing,
  );
  const tab = params.get('tab') === 'transfers' ? 'transfers' : 'transactions';
  const names = useNames(addressesIn(facts.data ?? null));
  const number = facts.data ? Number(facts.data.number) : isHash ? null : Number(block);
  return (
    <NameProvider names={names}>
      <PageTitle kind="Block" text={number === null ? block : grouped(number)} what="block">
        {number !== null && (
          <p class="controls">
            {number > 0 && (
              <Link to={blockPath(number - 1)} class="button">
                <Arrow to="left" /> {grouped(number - 1)}
              </Link>
            )}
            <Link to={blockPath(number + 1)} class="button">
              {grouped(number + 1)} <Arrow />
            </Link>
          </p>
        )}
      </PageTitle>
      <Section id="summary" title="Summary" note="As reported by the node." loaded={facts}>
        {(data) =>
          data === null ? (
            <div class="notice">
              <p>
                The node does not have this block. It may belong to another chain, not exist yet, or be older
                than what the node keeps.
              </p>
              <Newest />
            </div>
          ) : (
            <BlockFacts block={data} />
          )
        }
      </Section>
      {facts.data || (facts.data === undefined && facts.error === null) ? (
        <>
          <Tabs
            label="Views of the block"
            tabs={[
              { id: 'transactions', title: 'Transactions', to: blockPath(block) },
              { id: 'transfers', title: 'Transfers', to: `${blockPath(block)}?tab=transfers` },
            ]}
            current={tab}
          />
          {tab === 'transactions' ? (
            <Transactions facts={{ ...facts, data: facts.data }} transfers={transfers} />
          ) : (
            <Transfers pages={transfers} />
          )}
        </>
      ) : (
        // The index may have what the node no longer keeps, or cannot give now.
        transfers.data !== undefined && <Transfers pages={transfers} />
      )}
    </NameProvider>
  );
}

function Newest() {
  const head = useStatus()?.head?.number;
  return head === undefined ? null : (
    <p class="small">
      The newest indexed block is <BlockLink block={head} />.
    </p>
  );
}

/** Of the transactions listed, and the proposer. */
function* addressesIn(block: Block | null): Generator<string | null | undefined> {
  yield block?.miner;
  for (const { from, to } of (block?.transactions ?? []).slice(0, LISTED)) yield* [from, to];
}

function Transfers({ pages }: { pages: Pages<Transfer> }) {
  return (
    <Section id="transfers" title="Transfers" note={useOrderNote()} loaded={pages}>
      {(rows) => (
        <>
          <TransferTable
            caption="Transfers of the block"
            transfers={rows}
            without={['Block', 'Time']}
            empty="No transfers."
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function BlockFacts({ block }: { block: Block }) {
  const { hash, parentHash, timestamp, gasUsed, gasLimit, baseFeePerGas, size, miner } = block;
  const time = hexTime(timestamp);
  return (
    <Facts
      facts={[
        { name: 'Time', value: <TimeAndAge iso={time} /> },
        { name: 'Transactions', value: grouped(block.transactions?.length ?? 0) },
        gasUsed == null
          ? null
          : {
              name: 'Gas used',
              value: grouped(Number(gasUsed)),
              note:
                gasLimit && `${percent(Number(gasUsed) / Number(gasLimit))} of ${grouped(Number(gasLimit))}`,
            },
        baseFeePerGas == null
          ? null
          : { name: 'Base fee', value: `${unitsToText(BigInt(baseFeePerGas), GWEI_DECIMALS)} gwei` },
        size == null ? null : { name: 'Size', value: `${grouped(Number(size))} bytes` },
        miner == null ? null : { name: 'Proposer', value: <Address address={miner} /> },
        {
          name: 'Hash',
          value: (
            <span class="with-copy mono small" title={hash}>
              {shortHex(hash)}
              <Copy text={hash} what="block hash" />
            </span>
          ),
        },
        {
          name: 'Parent',
          value: (
            <Link to={blockPath(parentHash)} class="mono small">
              {shortHex(parentHash)}
            </Link>
          ),
        },
      ]}
    />
  );
}
