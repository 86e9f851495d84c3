/** How a token was launched: who got it first and how, what these wallets share, and what they still hold. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf, TransactionLink } from '../../ui/address.tsx';
import { Signed, Units } from '../../ui/amount.tsx';
import { countText, grouped, percent, safeName } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { isLate } from '../coverage.tsx';
import { colourOf, groupsOf, LaunchPicture, Swatch } from './launch-picture.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const LIMIT = 100;
const THRESHOLDS = { sniper_blocks: 3, bundle_wallets: 4, fresh_blocks: 1_000 };

type Launch = Answers['token_launch'];
type Buyer = Launch['buyers'][number];

export function LaunchTab({ stats }: TokenTabProps) {
  const launch = useAnswer('token_launch', { token: stats.token, limit: LIMIT, ...THRESHOLDS });
  return (
    <Section
      id="launch"
      title="Launch"
      note={`The first ${LIMIT} holders. These are counts by definition, not judgements.`}
      loaded={launch}
    >
      {(answer) =>
        answer.buyers.length === 0 ? (
          <p class="notice">Nobody received any of it.</p>
        ) : (
          <>
            {stats.estimateQuality === 'partial' && (
              <p class="notice">
                Transfers before the first indexed block are missing, so these are not its first holders.
              </p>
            )}
            {stats.estimateQuality === null && isLate(stats.historicalCoverageStartBlock) && (
              <p class="notice">
                Whether transfers before the first indexed block are missing has not been examined yet. If so,
                these are not its first holders.
              </p>
            )}
            <Sentences launch={answer} />
            <LaunchPicture buyers={answer.buyers} />
            <Table
              caption="First holders"
              columns={columnsOf(answer)}
              rows={answer.buyers}
              rowKey={({ address }) => address}
            />
            {answer.profitReason !== null && <p class="soft small">No sales: {answer.profitReason}</p>}
            {answer.truncated && answer.fromBlock !== null && (
              <p class="soft small">
                Sales are of block <BlockLink block={answer.fromBlock} /> and later ones only.
              </p>
            )}
          </>
        )
      }
    </Section>
  );
}

function Sentences({ launch: { summary, firstBlock, openBlock } }: { launch: Launch }) {
  const { snipers, bundles, sameFunderGroups, insiders, fresh, counted, heldShare, supplyShare } = summary;
  const { sniper_blocks, bundle_wallets, fresh_blocks } = THRESHOLDS;
  return (
    <ul class="sentences">
      <li>
        {openBlock === null ? (
          'Nobody bought it yet.'
        ) : (
          <>
            It could be bought from block <BlockLink block={openBlock} /> on
            {firstBlock !== null &&
              openBlock > firstBlock &&
              `, ${countText(openBlock - firstBlock, 'block')} after its first transfer`}
            . <b>{countText(snipers, 'wallet')}</b> bought at most {sniper_blocks} blocks later.
          </>
        )}
      </li>
      <li>
        <b>{countText(bundles, 'bundle')}</b>: {bundle_wallets} wallets or more that bought in one block, with
        a common payer or first funder.
      </li>
      <li>
        <b>{countText(sameFunderGroups, 'group')}</b> of wallets with the same first funder.
      </li>
      <li>
        <b>{countText(insiders, 'wallet')}</b> got it without paying before the first buyer did.
      </li>
      <li>
        <b>{countText(fresh, 'wallet')}</b> had {fresh === 1 ? 'its' : 'their'} first coins at most{' '}
        {grouped(fresh_blocks)} blocks before.
      </li>
      {heldShare !== null && (
        <li>
          The {countText(counted, 'wallet')} that {counted === 1 ? 'counts holds' : 'count hold'}{' '}
          <b>{percent(heldShare)}</b> of what {counted === 1 ? 'it' : 'they'} got
          {supplyShare !== null && `, and ${percent(supplyShare)} of the supply`}.
        </li>
      )}
    </ul>
  );
}

const HOW: Record<Buyer['how'], string> = {
  bought: 'bought',
  bought_for: 'bought for it',
  received: 'received',
  minted: 'minted',
};

function columnsOf({ buyers, symbol, decimals, quote }: Launch): Column<Buyer>[] {
  const groups = groupsOf(buyers);
  const units = (amount: string) => <Units units={amount} decimals={decimals} />;
  return [
    { title: 'Rank', number: true, wideOnly: true, cell: ({ rank }) => rank },
    {
      title: 'Wallet',
      plain: true,
      cell: (row) => (
        <>
          <Swatch colour={colourOf(groups, row)} />{' '}
          <Address address={row.address} label={labelOf(row, 'address')} />
          {row.contract && <span class="soft small"> contract</span>}
          {!row.counted && <span class="soft small"> not counted</span>}
        </>
      ),
    },
    {
      title: 'How',
      plain: true,
      cell: (row) => (
        <>
          {HOW[row.how]}
          {row.payer !== null && (
            <>
              {' '}
              by <Address address={row.payer} label={labelOf(row, 'payer')} />
            </>
          )}
          {row.uncertain && <span class="soft small"> uncertain</span>}
        </>
      ),
    },
    { title: 'Block', number: true, cell: ({ blockNumber }) => <BlockLink block={blockNumber} /> },
    {
      title: 'After first',
      number: true,
      wideOnly: true,
      cell: ({ blocksAfterFirst }) => grouped(blocksAfterFirst),
    },
    { title: 'Transaction', wideOnly: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
    {
      title: symbol === null ? 'Got' : `Got, ${safeName(symbol)}`,
      number: true,
      cell: ({ amount }) => units(amount),
    },
    {
      title: 'Paid',
      number: true,
      cell: ({ paid }) =>
        paid === null ? '–' : <Units units={paid.amount} decimals={paid.decimals} symbol={paid.symbol} />,
    },
    {
      title: 'Still holds',
      number: true,
      cell: ({ heldShare }) => (heldShare === null ? '–' : percent(heldShare)),
    },
    { title: 'Sold', number: true, wideOnly: true, cell: ({ sold }) => (sold === null ? '–' : units(sold)) },
    {
      title: 'Profit',
      number: true,
      cell: ({ averageCostProfit }) =>
        averageCostProfit === null || averageCostProfit === '0' ? (
          '–'
        ) : (
          <Signed units={averageCostProfit} of={quote} />
        ),
    },
    {
      title: 'First funder',
      wideOnly: true,
      cell: (row) =>
        row.funder === null ? '–' : <Address address={row.funder} label={labelOf(row, 'funder')} />,
    },
  ];
}
