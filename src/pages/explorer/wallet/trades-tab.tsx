/** What a wallet bought and sold, and what that brought. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { usePages } from '../../client/use-pages.ts';
import { BlockLink, TokenLink, TransactionLink } from '../../ui/address.tsx';
import { Amount, Units } from '../../ui/amount.tsx';
import { Facts } from '../../ui/facts.tsx';
import { countText, grouped, percent, unitsToText } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import type { TabProps } from './tab-props.ts';

const PAGE = 50;
/** Tokens of the table of profits: one page. */
const TOKENS = 200;

type Profit = Answers['wallet_profit'];
type TokenProfit = Profit['tokens'][number];
type Trade = Answers['wallet_trades']['trades'][number];
type Leg = Trade['given'][number];

export function TradesTab({ address }: TabProps) {
  const profit = useAnswer('wallet_profit', { address, limit: TOKENS });
  const trades = usePages(
    `trades ${address}`,
    (api, cursor, signal) => api.get('wallet_trades', { address, limit: PAGE, cursor }, signal),
    (answer): readonly Trade[] => answer.trades,
  );
  return (
    <>
      <Section
        id="profit"
        title="Profit"
        note="Against the native coin, from transfers alone: without transaction fees, and without what happened before the first indexed block."
        loaded={profit}
      >
        {(answer) => <Profits answer={answer} />}
      </Section>
      <Section
        id="trades"
        title="Trades"
        note="Told by what the wallet gave and received in each transaction, newest first."
        loaded={trades}
      >
        {(rows) => (
          <>
            <Table
              caption="Trades of the wallet"
              columns={TRADE_COLUMNS}
              rows={rows}
              rowKey={({ txHash }) => txHash}
              empty={trades.more === null ? 'No trades.' : 'None in the newest transfers: load more.'}
            />
            <More pages={trades} />
          </>
        )}
      </Section>
    </>
  );
}

function Profits({
  answer: { tokens, totals, quote, profitReason, truncated, fromBlock },
}: {
  answer: Profit;
}) {
  const { wins, losses, winRate, uncertainTrades } = totals;
  return (
    <>
      {profitReason !== null && <p class="notice">{profitReason}</p>}
      {tokens.length > 0 && (
        <Facts
          facts={[
            totals.realizedProfit === null
              ? null
              : { name: 'Realised profit', value: <Signed units={totals.realizedProfit} of={quote} /> },
            { name: 'Spent', value: <Units units={totals.spent} {...quote} /> },
            { name: 'Received', value: <Units units={totals.received} {...quote} /> },
            winRate === null
              ? null
              : {
                  name: 'Won',
                  value: percent(winRate),
                  note: `${countText(wins ?? 0, 'token')} of ${grouped((wins ?? 0) + (losses ?? 0))}`,
                },
            uncertainTrades === 0
              ? null
              : {
                  name: 'Left out',
                  value: countText(uncertainTrades, 'trade'),
                  note: 'in blocks of which transfers are missing',
                },
          ]}
        />
      )}
      {truncated && fromBlock !== null && (
        <p class="soft">
          The history is long: from block <BlockLink block={fromBlock} /> on only.
        </p>
      )}
      <Table
        caption="Profit by token"
        columns={profitColumns(quote)}
        rows={tokens}
        rowKey={({ tokenAddress }) => tokenAddress ?? 'native'}
        empty="It neither bought nor sold anything for the native coin."
      />
    </>
  );
}

/** An amount of the quote that may be below zero. */
function Signed({ units, of: { decimals, symbol } }: { units: string; of: Profit['quote'] }) {
  const isLoss = units.startsWith('-');
  const text = unitsToText(BigInt(isLoss ? units.slice(1) : units), decimals ?? 0);
  return <Amount text={text} symbol={symbol} sign={isLoss ? 'out' : 'in'} />;
}

function TokenName({ tokenAddress, symbol }: { tokenAddress: string | null; symbol: string | null }) {
  if (tokenAddress === null) return <span class="soft">{symbol ?? COIN}</span>;
  return <TokenLink token={tokenAddress} symbol={symbol} />;
}

function profitColumns(quote: Profit['quote']): Column<TokenProfit>[] {
  const amount = (units: string | null, of: { decimals: number | null; symbol?: string | null }) =>
    units === null ? '–' : <Units units={units} decimals={of.decimals} symbol={of.symbol ?? null} />;
  return [
    { title: 'Token', plain: true, cell: (row) => <TokenName {...row} /> },
    {
      title: 'Profit',
      plain: true,
      number: true,
      cell: ({ realizedProfit }) =>
        realizedProfit === null ? '–' : <Signed units={realizedProfit} of={quote} />,
    },
    {
      title: 'Bought',
      number: true,
      cell: ({ bought, decimals }) => amount(bought, { decimals }),
    },
    { title: 'for', number: true, wideOnly: true, cell: ({ spent }) => amount(spent, quote) },
    { title: 'Sold', number: true, cell: ({ sold, decimals }) => amount(sold, { decimals }) },
    { title: 'for', number: true, wideOnly: true, cell: ({ received }) => amount(received, quote) },
    {
      title: 'Without cost',
      number: true,
      wideOnly: true,
      cell: ({ soldWithoutCost, decimals }) => amount(soldWithoutCost, { decimals }),
    },
    { title: 'Position', number: true, cell: ({ position, decimals }) => amount(position, { decimals }) },
  ];
}

const TRADE_COLUMNS: Column<Trade>[] = [
  { title: 'Transaction', plain: true, cell: ({ txHash }) => <TransactionLink hash={txHash} /> },
  { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: 'Trade',
    plain: true,
    cell: ({ kind, uncertain }) => (
      <>
        <span class={`way ${WAYS[kind]}`}>{kind}</span>
        {uncertain && <span class="soft small"> uncertain</span>}
      </>
    ),
  },
  { title: 'Given', number: true, cell: ({ given }) => <Legs legs={given} /> },
  { title: 'Received', number: true, cell: ({ received }) => <Legs legs={received} /> },
  {
    title: 'Price',
    number: true,
    wideOnly: true,
    cell: ({ price }) => (price === null ? '–' : <Amount text={price} />),
  },
];

/** The colour of each kind: that of a transfer in or out. */
const WAYS = { buy: 'in', sell: 'out', swap: '', mixed: '' } as const;

function Legs({ legs }: { legs: readonly Leg[] }) {
  return (
    <>
      {legs.map((leg) => (
        <span key={leg.tokenAddress ?? 'native'} class="nowrap">
          <Units units={leg.amount} decimals={leg.decimals} /> <TokenName {...leg} />{' '}
        </span>
      ))}
    </>
  );
}
