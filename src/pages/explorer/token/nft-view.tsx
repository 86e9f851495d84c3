/** One ERC-721 or ERC-1155 token of a contract: its owner or holders, and its history. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, Transfer } from '../../client/answers.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, BlockLink, labelOf } from '../../ui/address.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, grouped, ZERO_ADDRESS } from '../../ui/format.ts';
import { Link, tokenPath } from '../../ui/link.tsx';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TransferTable } from '../transfer-table.tsx';
import { holdersOf } from './nft.ts';

const PAGE = 50;

/** Pages without a match that are skipped by themselves, of some 130,000 transfers of the collection each. */
const MOST_SEARCHED = 20;

/** Holders shown. */
const MOST_HOLDERS = 100;

interface NftViewProps {
  stats: Answers['token_stats'];
  /** The token number, in digits. */
  id: string;
}

export function NftView({ stats, id }: NftViewProps) {
  const { token } = stats;
  const [upTo, setUpTo] = useState<number | null>(null);
  const pages = usePages(
    `nft ${token} ${id}`,
    async (api, cursor, signal) => {
      const query = { token, token_id: id, limit: PAGE, cursor };
      const answered = await api.get('token_transfers', query, signal);
      setUpTo(answered.data.completeToBlock);
      return answered;
    },
    ({ transfers }): readonly Transfer[] => transfers,
  );
  const { data: transfers, more, loading } = pages;
  // The number's transfers may lie far back in the collection's history: a page examines a bounded part of it.
  const searched = useRef(0);
  const isSearching =
    transfers?.length === 0 && more !== null && pages.error === null && searched.current < MOST_SEARCHED;
  useEffect(() => {
    if (!isSearching || loading) return;
    searched.current++;
    more?.();
  });
  const isAll = more === null && !pages.isCut;
  return (
    <>
      <header class="nft-title">
        <h2 class="with-copy break">
          #{id}
          <Copy text={id} what="token number" />
        </h2>
        <Link to={tokenPath(token)} class="small">
          All tokens of the contract
        </Link>
      </header>
      {transfers?.[0] !== undefined &&
        (transfers[0].transferType === 'erc1155' ? (
          <Holders transfers={transfers} isAll={isAll} />
        ) : (
          <Facts facts={ownerFacts(transfers[0], upTo, isAll ? transfers : null)} />
        ))}
      <Section
        id="transfers"
        title="History"
        note="The transfers of this token, newest first."
        loaded={pages}
      >
        {(rows) => (
          <>
            <TransferTable
              caption="Transfers of the token number"
              transfers={rows}
              without={['Token']}
              empty={emptyText(isSearching, isAll)}
            />
            <More pages={pages} />
          </>
        )}
      </Section>
    </>
  );
}

function emptyText(isSearching: boolean, isAll: boolean): string {
  if (isSearching) return 'Searching older transfers …';
  return isAll ? 'No transfer of this number is indexed.' : 'None in the newest transfers: load more.';
}

/** `all`: every transfer, null while some are not loaded. */
function ownerFacts(last: Transfer, upTo: number | null, all: readonly Transfer[] | null): (Fact | null)[] {
  const first = all?.at(-1);
  return [
    {
      name: 'Owner',
      value:
        last.to === ZERO_ADDRESS ? (
          'nobody: it was burned'
        ) : (
          <Address address={last.to} label={labelOf(last, 'to')} />
        ),
      note: (
        <>
          since block <BlockLink block={last.blockNumber} />, <Time iso={last.timestamp} />
          {upTo !== null && `; by the transfers up to block ${grouped(upTo)}`}
        </>
      ),
    },
    all === null ? null : { name: 'Transfers', value: grouped(all.length) },
    first?.from === ZERO_ADDRESS
      ? {
          name: 'Minted to',
          value: <Address address={first.to} label={labelOf(first, 'to')} />,
          note: <Time iso={first.timestamp} />,
        }
      : null,
  ];
}

function Holders({ transfers, isAll }: { transfers: readonly Transfer[]; isAll: boolean }) {
  if (!isAll)
    return (
      <p class="notice">Its holders are counted when all of its transfers are loaded: load more below.</p>
    );
  const labels = new Map(
    transfers.flatMap((row) => [
      [row.from, labelOf(row, 'from')],
      [row.to, labelOf(row, 'to')],
    ]),
  );
  const holders = holdersOf(transfers);
  const shown = holders.slice(0, MOST_HOLDERS);
  return (
    <section class="section">
      <header>
        <h2>Holders</h2>
        <p class="soft small">
          {countText(holders.length, 'holder')}, counted from its transfers
          {shown.length < holders.length && `; the ${shown.length} largest`}.
        </p>
      </header>
      <Table
        caption="Holders of the token number"
        rows={shown}
        rowKey={({ address }) => address}
        columns={[
          {
            title: 'Holder',
            plain: true,
            cell: ({ address }) => <Address address={address} label={labels.get(address)} />,
          },
          {
            title: 'Units',
            number: true,
            cell: ({ units }) =>
              units < 0n ? 'received before the first indexed block' : units.toLocaleString('en-US'),
          },
        ]}
        empty="Nobody: all units were burned, or none is indexed."
      />
    </section>
  );
}
