/** What a wallet bought and sold, and what that brought. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { usePages } from '../../client/use-pages.ts';
import { BlockLink, TokenLink, TransactionLink } from '../../ui/address.tsx';
import { Amount, Signed, Units } from '../../ui/amount.tsx';
import { Facts } from '../../ui/facts.tsx';
import { countText, grouped, percent, safeName, shortHex } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import { More } from '../../ui/more.tsx';
import { href, metaContent, setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { QuoteChoice } from '../quote-choice.tsx';
import { ProfitCurve } from './profit-curve.tsx';
import type { TabProps } from './tab-props.ts';

const PAGE = 50;
/** Tokens of the table of profits: one page. */
const TOKENS = 200;

type Profit = Answers['wallet_profit'];
type TokenProfit = Profit['tokens'][number];
type Trade = Answers['wallet_trades']['trades'][number];
type Leg = Trade['given'][number];
type Quote = Profit['quote'];

export function TradesTab({ address, params }: TabProps) {
  const quote = params.get('quote') ?? 'native';
  const token = params.get('token');
  const profit = useAnswer('wallet_profit', { address, quote, limit: TOKENS });
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
        note="From transfers alone: without transaction fees, and without what happened before the first indexed block."
        loaded={profit}
        controls={
          <QuoteChoice
            quote={quote}
            found={quotesIn(profit.data, trades.data)}
            onChange={(value) => setParams({ quote: value, token: null }, { replace: true })}
          />
        }
      >
        {(answer) => <Profits answer={answer} token={token} />}
      </Section>
      {token !== null && <ProfitCurve address={address} quote={quote} token={token} params={params} />}
      <Section
        id="trades"
        title="Trades"
        note="Told by what the wallet gave and received in each transaction, newest first."
        loaded={trades}
        controls={<Follow address={address} />}
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

/** Where to be told of the next ones: a subscription to the wallet, or the panel's form for a webhook. */
function Follow({ address }: { address: string }) {
  const filter = JSON.stringify({ events: ['wallet_trade'], wallets: [address] });
  return (
    <>
      <Link to={`/live?wallet=${address}`} class="quiet">
        Follow live
      </Link>
      {metaContent('panel') !== '' && (
        <a class="quiet" href={href(`/admin?part=hooks&filter=${encodeURIComponent(filter)}`)}>
          Webhook
        </a>
      )}
    </>
  );
}

/** The quotes of the tokens and the trades that are loaded. */
function quotesIn(profit: Profit | undefined, trades: readonly Trade[] | undefined): readonly Quote[] {
  return [
    ...(profit === undefined
      ? []
      : [profit.quote, ...profit.tokens.flatMap(({ otherQuotes }) => otherQuotes)]),
    ...(trades ?? []).flatMap((trade) => trade.quote ?? []),
  ];
}

function Profits({
  answer: { tokens, totals, quote, profitReason, truncated, fromBlock },
  token,
}: {
  answer: Profit;
  token: string | null;
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
        columns={profitColumns(quote, token)}
        rows={tokens}
        rowKey={({ tokenAddress }) => tokenAddress ?? 'native'}
        empty={`It neither bought nor sold anything for ${safeName(quote.symbol ?? '') || 'this token'}.`}
      />
    </>
  );
}

function TokenName({ tokenAddress, symbol }: { tokenAddress: string | null; symbol: string | null }) {
  if (tokenAddress === null) return <span class="soft">{safeName(symbol ?? COIN)}</span>;
  return <TokenLink token={tokenAddress} symbol={symbol} />;
}

function profitColumns(quote: Profit['quote'], token: string | null): Column<TokenProfit>[] {
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
    { title: 'Spent', number: true, wideOnly: true, cell: ({ spent }) => amount(spent, quote) },
    { title: 'Sold', number: true, cell: ({ sold, decimals }) => amount(sold, { decimals }) },
    { title: 'Received', number: true, wideOnly: true, cell: ({ received }) => amount(received, quote) },
    {
      title: 'Without cost',
      number: true,
      wideOnly: true,
      cell: ({ soldWithoutCost, decimals }) => amount(soldWithoutCost, { decimals }),
    },
    { title: 'Position', number: true, cell: ({ position, decimals }) => amount(position, { decimals }) },
    {
      title: 'Curve',
      cell: ({ tokenAddress, symbol, sells }) => {
        if (sells === 0) return '–';
        const id = tokenAddress ?? 'native';
        return (
          <button
            type="button"
            class="quiet"
            aria-pressed={token === id}
            onClick={() => setParams({ token: token === id ? null : id }, { replace: true })}
          >
            {token === id ? 'Hide' : 'Show'}
            <span class="hidden-text">
              {' '}
              the curve of the profit with {safeName(symbol ?? '') || shortHex(id)}
            </span>
          </button>
        );
      },
    },
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
  {
    title: 'Price',
    plain: true,
    number: true,
    cell: ({ price, quote }) =>
      price === null ? '–' : <Amount text={price} symbol={quote?.symbol ?? null} />,
  },
  { title: 'Given', plain: true, number: true, side: 'from', cell: ({ given }) => <Legs legs={given} /> },
  {
    title: 'Received',
    plain: true,
    number: true,
    side: 'to',
    cell: ({ received }) => <Legs legs={received} />,
  },
];

/** The colour of each kind: that of a transfer in or out. */
const WAYS = { buy: 'in', sell: 'out', swap: '', mixed: '' } as const;

function Legs({ legs }: { legs: readonly Leg[] }) {
  return (
    <>
      {legs.map((leg) => (
        <span key={leg.tokenAddress ?? 'native'} class="leg">
          <Units units={leg.amount} decimals={leg.decimals} /> <TokenName {...leg} />{' '}
        </span>
      ))}
    </>
  );
}
