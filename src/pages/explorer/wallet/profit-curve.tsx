/** What a wallet gained with one token, sale by sale. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { Chart, type Point } from '../../ui/chart.tsx';
import { dateTime, grouped, safeName, shortAmount, shortHex, unitsToText } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';

interface ProfitCurveProps {
  address: string;
  quote: string;
  token: string;
}

export function ProfitCurve({ address, quote, token }: ProfitCurveProps) {
  const profit = useAnswer('wallet_profit', { address, quote, token });
  const shown = profit.data?.tokens[0];
  const name = safeName(shown?.symbol ?? '') || shortHex(token);
  return (
    <Section
      id="curve"
      title={`Profit with ${name}`}
      note="Realised, after each block with a sale."
      loaded={profit}
    >
      {(answer) => {
        const points = pointsOf(answer);
        return points.length === 0 ? (
          <p class="notice">No sale of it{profit.data?.profitReason != null && ', as far as it is known'}.</p>
        ) : (
          <Chart label={`Realised profit with ${name} over time`} kind="step" points={points} />
        );
      }}
    </Section>
  );
}

function pointsOf({ curve, quote: { decimals, symbol } }: Answers['wallet_profit']): Point[] {
  return (curve ?? []).map(({ blockNumber, timestamp, realizedProfit }) => {
    const text = unitsToText(BigInt(realizedProfit ?? 0), decimals ?? 0);
    return {
      at: Date.parse(timestamp),
      value: Number(text),
      text: `${shortAmount(text)} ${safeName(symbol ?? '')}, ${dateTime(timestamp)} UTC, block ${grouped(blockNumber)}`,
    };
  });
}
