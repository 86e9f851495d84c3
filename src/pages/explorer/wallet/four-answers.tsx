/** What one wants to know of a wallet first: who funded it, what it holds, what it earned, whom it deals with. */
import type { ComponentChildren } from 'preact';
import type { Answers } from '../../client/answers.ts';
import { type Loaded, useAnswer } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf, TokenLink, TransactionLink } from '../../ui/address.tsx';
import { Amount, Signed, Units } from '../../ui/amount.tsx';
import { countText, grouped, NATIVE_DECIMALS, percent, unitsToText, ZERO_ADDRESS } from '../../ui/format.ts';
import { addressPath, Link } from '../../ui/link.tsx';
import { Failure } from '../../ui/section.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { LookalikeNote } from './lookalike-note.tsx';
import type { WalletKnowledge } from './suspicion.ts';
import type { NodeFacts, WalletActivity } from './wallet-facts.ts';

/** Rows of each list. */
const ROWS = 4;

interface FourAnswersProps {
  address: string;
  activity: WalletActivity;
  node: Loaded<NodeFacts>;
  parties: Parties;
  known: WalletKnowledge | null;
}

type Parties = Loaded<Answers['wallet_counterparties']>;

export function FourAnswers({ address, activity, node, parties, known }: FourAnswersProps) {
  return (
    <div class="answers">
      <Funded address={address} funding={activity.funding} />
      <Holds address={address} tokens={activity.tokens} node={node} />
      <Earned address={address} isContract={node.data?.hasCode === true} />
      <DealsWith address={address} parties={parties} known={known} />
    </div>
  );
}

interface AnswerProps {
  title: string;
  address: string;
  /** The tab that has all of it. */
  tab: string;
  more: string;
  children: ComponentChildren;
}

function Answer({ title, address, tab, more, children }: AnswerProps) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {children}
      <p class="small">
        <Link to={`${addressPath(address)}?tab=${tab}`}>{more}</Link>
      </p>
    </section>
  );
}

function Funded({ address, funding }: { address: string; funding: WalletActivity['funding'] }) {
  const { firstFunding: first } = funding;
  return (
    <Answer title="Who funded it" address={address} tab="funding" more="Its funding chain">
      {first === null ? (
        <p class="soft">
          {address === ZERO_ADDRESS ? 'Nobody: it is nobody’s wallet.' : 'Nobody, as far as the index goes.'}
        </p>
      ) : (
        <>
          <p>
            <Address address={first.from} label={labelOf(first, 'from')} />
          </p>
          <p class="small soft">
            <Amount text={first.amount} symbol={COIN} /> <Time iso={first.timestamp} />,{' '}
            {first.source === 'direct' ? 'sent directly' : 'by a contract, as an internal transfer'}, in block{' '}
            <BlockLink block={first.blockNumber} />: <TransactionLink hash={first.txHash} />
          </p>
        </>
      )}
    </Answer>
  );
}

type Holding = WalletActivity['tokens']['tokens'][number];

/** The largest parts of a supply first: without prices nothing else compares tokens. */
function byShare(a: Holding, b: Holding): number {
  return (b.share ?? -1) - (a.share ?? -1);
}

function Holds({
  address,
  tokens: { tokens, nextCursor },
  node,
}: {
  address: string;
  tokens: WalletActivity['tokens'];
  node: Loaded<NodeFacts>;
}) {
  const shown = tokens.toSorted(byShare).slice(0, ROWS);
  const rest = tokens.length - shown.length;
  return (
    <Answer
      title="What it holds"
      address={address}
      tab="tokens"
      more={
        nextCursor !== null
          ? `All of its tokens: here ${shown.length} of the ${tokens.length} that moved last`
          : rest > 0
            ? `${countText(rest, 'more token')}`
            : 'Its tokens'
      }
    >
      <ul>
        <li>
          {node.data === undefined ? (
            <span class="soft">
              {node.error === null ? '…' : `The node did not give its balance of ${COIN}.`}
            </span>
          ) : (
            <Amount text={unitsToText(node.data.balance, NATIVE_DECIMALS)} symbol={COIN} />
          )}
        </li>
        {shown.map((token) => (
          <li key={token.tokenAddress}>
            <span>
              <Units units={token.balance} decimals={token.decimals} />{' '}
              <TokenLink token={token.tokenAddress} symbol={token.symbol} />
            </span>
            <small class="soft">{shareText(token)}</small>
          </li>
        ))}
      </ul>
      {tokens.length === 0 && <p class="soft small">No tokens.</p>}
    </Answer>
  );
}

function shareText({ share, accuracy }: Holding): string {
  if (accuracy === 'unreliable') return 'balance unreliable';
  return share === null ? 'supply unknown' : `${percent(share)} of the supply`;
}

function Earned({ address, isContract }: { address: string; isContract: boolean }) {
  const profit = useAnswer('wallet_profit', { address, limit: 1 });
  return (
    <Answer title="What it earned" address={address} tab="trades" more="Its trades">
      <Awaited loaded={profit}>{(answer) => <Profit answer={answer} />}</Awaited>
      {isContract && profit.data !== undefined && profit.data.totals.tokens > 0 && (
        <p class="small soft">
          A contract trades for those who call it: of a pool or a router this is nobody’s profit.
        </p>
      )}
    </Answer>
  );
}

function Profit({
  answer: { totals, quote, profitReason, truncated, fromBlock },
}: {
  answer: Answers['wallet_profit'];
}) {
  if (totals.realizedProfit === null) return <p class="soft small">Unknown: {profitReason}.</p>;
  const { tokens, wins, losses, winRate, unmatchedShare, uncertainTrades } = totals;
  return (
    <>
      {tokens === 0 ? (
        <p class="soft">It neither bought nor sold anything for {COIN}.</p>
      ) : (
        <>
          <p>
            <Signed units={totals.realizedProfit} of={quote} />
          </p>
          <p class="small soft">
            realised by trading {countText(tokens, 'token')} for {COIN}
            {winRate !== null &&
              `; ${percent(winRate)} won (${grouped(wins ?? 0)} of ${grouped((wins ?? 0) + (losses ?? 0))} sold)`}
          </p>
        </>
      )}
      {unmatchedShare !== null && unmatchedShare > 0 && (
        <p class="small soft">
          Unknown: {percent(unmatchedShare)} of what its sales brought, since it did not buy those tokens for{' '}
          {COIN}.
        </p>
      )}
      {uncertainTrades > 0 && (
        <p class="small soft">Left out: {countText(uncertainTrades, 'trade')} in incomplete blocks.</p>
      )}
      {truncated && fromBlock !== null && (
        <p class="small soft">
          Only from block <BlockLink block={fromBlock} /> on: its history is long.
        </p>
      )}
    </>
  );
}

function DealsWith({ address, parties, known }: Pick<FourAnswersProps, 'address' | 'parties' | 'known'>) {
  return (
    <Answer title="Whom it deals with" address={address} tab="counterparties" more="All counterparties">
      <Awaited loaded={parties}>
        {({ counterparties }) =>
          counterparties.length === 0 ? (
            <p class="soft">Nobody: it moved nothing but its own.</p>
          ) : (
            <ul>
              {counterparties.slice(0, ROWS).map((party) => (
                <li key={party.address}>
                  <Address address={party.address} label={labelOf(party, 'address')} />
                  <small class="soft">
                    {grouped(party.inCount)} in, {grouped(party.outCount)} out
                  </small>
                  <LookalikeNote address={party.address} known={known} />
                </li>
              ))}
            </ul>
          )
        }
      </Awaited>
    </Answer>
  );
}

function Awaited<T>({ loaded, children }: { loaded: Loaded<T>; children: (data: T) => ComponentChildren }) {
  if (loaded.error !== null) return <Failure error={loaded.error} onRetry={loaded.reload} />;
  return <>{loaded.data === undefined ? <p class="soft">…</p> : children(loaded.data)}</>;
}
