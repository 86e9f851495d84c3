/** What a wallet gained with one token, sale by sale. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { Chart, type Point } from '../../ui/chart.tsx';
import { dateTime, grouped, safeName, shortHex, unitsText, unitsToText } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { RangeChoice, rangeIn } from '../range-choice.tsx';

interface ProfitCurveProps {
  params: URLSearchParams;
  address: string;
  quote: string;
  token: string;
}

export function ProfitCurve({ address, quote, token, params }: ProfitCurveProps) {
  const range = rangeIn(params);
  const profit = useAnswer('wallet_profit', { address, quote, token });
  const shown = profit.data?.tokens[0];
  const name = safeName(shown?.symbol ?? '') || shortHex(token);
  return (
    <Section
      id="curve"
      title={`Profit with ${name}`}
      note="Realised, after each block with a sale."
      loaded={profit}
      controls={<RangeChoice label="Range before the last sale" value={range.value} />}
    >
      {(answer) => {
        const points = within(pointsOf(answer), range.seconds);
        const [only, second] = points;
        if (only !== undefined && second === undefined)
          return <p class="notice">One block with sales: {only.text}.</p>;
        return points.length === 0 ? (
          <p class="notice">No sale of it{profit.data?.profitReason != null && ', as far as it is known'}.</p>
        ) : (
          <Chart label={`Realised profit with ${name} over time`} kind="step" points={points} />
        );
      }}
    </Section>
  );
}

/** The points of the last seconds before the newest, and the profit when they began. */
function within(points: Point[], seconds: number): Point[] {
  const last = points.at(-1);
  if (seconds === 0 || last === undefined) return points;
  const start = last.at - seconds * 1_000;
  const before = points.findLast(({ at }) => at < start);
  const shown = points.filter(({ at }) => at >= start);
  return before === undefined ? shown : [{ ...before, at: start }, ...shown];
}

function pointsOf({ curve, quote: { decimals, symbol } }: Answers['wallet_profit']): Point[] {
  return (curve ?? []).map(({ blockNumber, timestamp, realizedProfit }) => {
    const units = realizedProfit ?? '0';
    return {
      at: Date.parse(timestamp),
      value: Number(unitsToText(BigInt(units), decimals ?? 0)),
      text: `${unitsText(units, decimals, symbol)}, ${dateTime(timestamp)} UTC, block ${grouped(blockNumber)}`,
    };
  });
}
