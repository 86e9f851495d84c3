/** Who traded a token: most profit or loss first, or the newest trades. */
import { useState } from 'preact/hooks';
import type { Answers } from '../../client/answers.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { Signed, Units } from '../../ui/amount.tsx';
import { Choice } from '../../ui/choice.tsx';
import { grouped, safeName, shortHex } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { COIN } from '../coin.ts';
import { QuoteChoice } from '../quote-choice.tsx';
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

export function TradersTab({ stats: { token, symbol }, params }: TokenTabProps) {
  const quote = params.get('quote') ?? 'native';
  const [quotes, setQuotes] = useState<Listed['quotes']>([]);
  const { value: order } = ORDERS.find(({ value }) => value === params.get('order')) ?? ORDERS[0];
  const pages = usePages(
    `traders ${token} ${quote} ${order}`,
    async (api, cursor, signal) => {
      const answer = await api.get('token_traders', { token, quote, order, limit: PAGE, cursor }, signal);
      setQuotes(answer.data.quotes);
      return answer;
    },
    ({ traders, quote, decimals }): readonly Trader[] =>
      traders.map((trader) => ({ ...trader, quote, decimals })),
  );
  const found = quotes.find(({ tokenAddress }) => (tokenAddress ?? 'native') === quote);
  const name = quote === 'native' ? COIN : safeName(found?.symbol ?? '') || shortHex(quote);
  return (
    <Section
      id="traders"
      title="Traders"
      note={`Against ${name}, at average prices, without known contracts and transaction fees.`}
      loaded={pages}
      controls={
        <>
          <QuoteChoice
            quote={quote}
            found={quotes}
            onChange={(value) => setParams({ quote: value }, { replace: true })}
          />
          <Choice
            label="Order"
            options={ORDERS}
            value={order}
            onChange={(value) => setParams({ order: value === 'profit' ? null : value }, { replace: true })}
          />
        </>
      }
    >
      {(traders) => (
        <>
          <Table
            caption="Traders of the token"
            columns={columnsOf(symbol)}
            rows={traders}
            rowKey={({ address }) => address}
            empty={
              pages.more === null ? `Nobody traded it for ${name}.` : 'Only contracts so far: load more.'
            }
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

/** `symbol`: of the token. */
function columnsOf(symbol: string | null): Column<Trader>[] {
  const titled = (what: string) => (symbol === null ? what : `${what}, ${safeName(symbol)}`);
  return [
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
      title: titled('Bought'),
      number: true,
      cell: ({ bought, decimals }) => <Units units={bought} decimals={decimals} />,
    },
    {
      title: 'Spent',
      number: true,
      wideOnly: true,
      cell: ({ spent, quote }) => <Units units={spent} {...quote} />,
    },
    { title: 'Sales', number: true, wideOnly: true, cell: ({ sells }) => grouped(sells) },
    {
      title: 'Sold',
      number: true,
      cell: ({ sold, decimals }) => <Units units={sold} decimals={decimals} />,
    },
    {
      title: 'Received',
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
      title: 'Receiver no.',
      number: true,
      wideOnly: true,
      cell: ({ firstBuyerRank }) => (firstBuyerRank === null ? '–' : grouped(firstBuyerRank)),
    },
  ];
}
