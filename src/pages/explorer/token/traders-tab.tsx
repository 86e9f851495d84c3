/** Who traded a token: most profit or loss first, or the newest trades. */
import type { Answers } from '../../client/answers.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Choice } from '../../ui/choice.tsx';
import { grouped } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { Signed } from '../../ui/signed.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const PAGE = 50;
const ORDERS = [
  { value: 'profit', text: 'Most profit' },
  { value: 'loss', text: 'Most loss' },
  { value: 'recent', text: 'Newest trade' },
] as const;

type Listed = Answers['token_traders'];
/** A trader with what its amounts are counted in. */
type Trader = Listed['traders'][number] & Pick<Listed, 'quote' | 'decimals'>;

export function TradersTab({ stats: { token }, params }: TokenTabProps) {
  const { value: order } = ORDERS.find(({ value }) => value === params.get('order')) ?? ORDERS[0];
  const pages = usePages(
    `traders ${token} ${order}`,
    (api, cursor, signal) => api.get('token_traders', { token, order, limit: PAGE, cursor }, signal),
    ({ traders, quote, decimals }): readonly Trader[] =>
      traders.map((trader) => ({ ...trader, quote, decimals })),
  );
  return (
    <Section
      id="traders"
      title="Traders"
      note="For the native coin, at average prices, without known contracts and transaction fees."
      loaded={pages}
      controls={
        <Choice
          label="Order"
          options={ORDERS}
          value={order}
          onChange={(value) => setParams({ order: value === 'profit' ? null : value }, { replace: true })}
        />
      }
    >
      {(traders) => (
        <>
          <Table
            caption="Traders of the token"
            columns={COLUMNS}
            rows={traders}
            rowKey={({ address }) => address}
            empty={
              pages.more === null
                ? 'Nobody traded it for the native coin.'
                : 'Only contracts so far: load more.'
            }
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

const COLUMNS: Column<Trader>[] = [
  {
    title: 'Wallet',
    plain: true,
    cell: (row) => <Address address={row.address} label={labelOf(row, 'address')} tab="trades" />,
  },
  {
    title: 'Profit',
    plain: true,
    number: true,
    cell: ({ averageCostProfit, quote }) =>
      averageCostProfit === null ? '–' : <Signed units={averageCostProfit} of={quote} />,
  },
  { title: 'Buys', number: true, wideOnly: true, cell: ({ buys }) => grouped(buys) },
  {
    title: 'Bought',
    number: true,
    cell: ({ bought, decimals }) => <Units units={bought} decimals={decimals} />,
  },
  {
    title: 'for',
    number: true,
    wideOnly: true,
    cell: ({ spent, quote }) => <Units units={spent} {...quote} />,
  },
  { title: 'Sales', number: true, wideOnly: true, cell: ({ sells }) => grouped(sells) },
  { title: 'Sold', number: true, cell: ({ sold, decimals }) => <Units units={sold} decimals={decimals} /> },
  {
    title: 'for',
    number: true,
    wideOnly: true,
    cell: ({ received, quote }) => <Units units={received} {...quote} />,
  },
  {
    title: 'Holds',
    number: true,
    cell: ({ balance, decimals }) => <Units units={balance} decimals={decimals} />,
  },
  {
    title: 'First holder',
    number: true,
    wideOnly: true,
    cell: ({ firstBuyerRank }) => (firstBuyerRank === null ? '–' : `#${grouped(firstBuyerRank)}`),
  },
];
