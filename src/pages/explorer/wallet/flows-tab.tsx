/** A wallet's balance over time, in the coin or in one of its tokens. */
import type { Answers } from '../../client/answers.ts';
import type { Api, ApiExchange } from '../../client/api.ts';
import { type Bundle, useAnswer, useLoaded } from '../../client/use-answer.ts';
import { BlockLink } from '../../ui/address.tsx';
import { Chart, type Point } from '../../ui/chart.tsx';
import { dateTime, grouped, safeName, shortHex, unitsText, unitsToText } from '../../ui/format.ts';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import { RangeChoice, rangeIn } from '../range-choice.tsx';
import type { TabProps } from './tab-props.ts';

/** Tokens offered for selection: those of the first page. */
const MAX_TOKENS = 50;
const POINTS = 300;

type History = Answers['balance_history'];
/** `since`: where the range begins; null for all. */
type RangedHistory = History & { since: string | null };
type Token = Answers['wallet_tokens']['tokens'][number];

export function FlowsTab({ address, params }: TabProps) {
  const asset = params.get('asset') ?? 'native';
  const range = rangeIn(params);
  const tokens = useAnswer('wallet_tokens', { address, limit: MAX_TOKENS, include_zero: true });
  const history = useLoaded<RangedHistory>(`balance ${address} ${asset} ${range.value}`, (api, signal) =>
    loadHistory(api, address, asset, range.seconds, signal),
  );
  return (
    <Section
      id="flows"
      title="Balance"
      note={`Received minus sent${asset === 'native' ? ', without transaction fees' : ''}.`}
      loaded={history}
      rows={range.seconds > 0 ? history.data?.series : undefined}
      controls={
        <>
          <select
            aria-label="Asset"
            value={asset}
            onChange={({ currentTarget }) => setParams({ asset: currentTarget.value }, { replace: true })}
          >
            <option value="native">{COIN}</option>
            {(tokens.data?.tokens ?? []).map((token) => (
              <option key={token.tokenAddress} value={token.tokenAddress}>
                {tokenName(token)}
              </option>
            ))}
          </select>
          <RangeChoice label="Range before the last transfer" value={range.value} />
        </>
      }
    >
      {(found) => {
        const points = pointsOf(found, found.since);
        return (
          <>
            {points.length === 0 ? (
              <p class="notice">The balance did not change in this time.</p>
            ) : (
              <Chart label="Balance over time" kind="step" points={points} />
            )}
            {points.some(({ value }) => value < 0) && (
              <p class="soft small">
                Below zero: what it held before the first indexed block, or got without a transfer, is not
                counted.
              </p>
            )}
            {found.truncated && found.fromBlock !== null && (
              <p class="soft small">
                The history is long: from block <BlockLink block={found.fromBlock} /> on only.
              </p>
            )}
          </>
        );
      }}
    </Section>
  );
}

async function loadHistory(
  api: Api,
  address: string,
  token: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Bundle<RangedHistory>> {
  const exchanges: ApiExchange[] = [];
  let since: string | null = null;
  if (seconds > 0) {
    const summary = await api.get('wallet_summary', { address }, signal);
    exchanges.push(summary.exchange);
    const last = Date.parse(summary.data.lastActivity ?? '') || Date.now();
    since = new Date(last - seconds * 1_000).toISOString();
  }
  const { data, exchange } = await api.get(
    'balance_history',
    { address, token, since, points: POINTS },
    signal,
  );
  return { data: { ...data, since }, exchanges: [...exchanges, exchange] };
}

function tokenName({ tokenAddress, symbol }: Token): string {
  const name = safeName(symbol ?? '');
  return name === '' ? shortHex(tokenAddress) : `${name} (${shortHex(tokenAddress)})`;
}

/** The balances; with a beginning of the range, also the one there. */
function pointsOf({ series, before, decimals, truncated }: History, since: string | null): Point[] {
  if (series.length === 0) return [];
  const pointAt = (timestamp: string, balance: string, place: string): Point => {
    const text = unitsToText(BigInt(balance), decimals ?? 0);
    return {
      at: Date.parse(timestamp),
      value: Number(text),
      text: `${unitsText(balance, decimals, null)}, ${dateTime(timestamp)} UTC${place}`,
    };
  };
  const points = series.map(({ timestamp, balance, blockNumber }) =>
    pointAt(timestamp, balance, `, block ${grouped(blockNumber)}`),
  );
  return since === null || truncated ? points : [pointAt(since, before, ''), ...points];
}
