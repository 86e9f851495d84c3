/** The largest holders of a token, and how concentrated it is. */
import { useAnswer } from '../../client/use-answer.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Meter } from '../../ui/facts.tsx';
import { countText, percent } from '../../ui/format.ts';
import { rankTicks } from '../../ui/scale.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const LIMIT = 100;

/** About as many ranks as a narrow chart has room for. */
const TICKS = 5;

export function HoldersTab({ stats }: TokenTabProps) {
  const list = useAnswer('token_holders', { token: stats.token, limit: LIMIT, include_contracts: true });
  return (
    <Section
      id="holders"
      title="Holders"
      note={`The ${LIMIT} largest, computed from transfers.`}
      loaded={list}
    >
      {({ holders }) => {
        let together = 0;
        const rows = holders.map((holder, i) => {
          together += holder.share ?? 0;
          return { ...holder, rank: i + 1, together };
        });
        return (
          <>
            <Concentration stats={stats} />
            {stats.concentration !== null && hasUnequal(holders) && (
              <Chart
                label="Share of the largest holders together"
                kind="line"
                points={rows.map(({ rank, together }) => ({
                  at: rank,
                  value: together * 100,
                  text: `The ${rank} largest hold ${percent(together)} of the supply`,
                }))}
                ticks={rankTicks(rows.length, TICKS)}
                unit=" %"
              />
            )}
            <Table
              caption="Holders"
              columns={[
                { title: 'Rank', number: true, wideOnly: true, cell: ({ rank }) => rank },
                {
                  title: 'Holder',
                  plain: true,
                  cell: (row) => (
                    <>
                      <Address address={row.address} label={labelOf(row, 'address')} />
                      {row.contract && <span class="soft small"> contract</span>}
                    </>
                  ),
                },
                {
                  title: 'Balance',
                  plain: true,
                  number: true,
                  cell: ({ balance }) => <Units units={balance} decimals={stats.decimals} />,
                },
                {
                  title: 'Share',
                  plain: true,
                  number: true,
                  cell: ({ share }) => (share === null ? '–' : percent(share)),
                },
                { title: '', wideOnly: true, cell: ({ share }) => share !== null && <Meter share={share} /> },
              ]}
              rows={rows}
              rowKey={({ address }) => address}
              empty="According to the indexed transfers, nobody holds it."
            />
          </>
        );
      }}
    </Section>
  );
}

/** A sentence about the shares of the largest holders; nothing where the supply is unknown. */
function Concentration({ stats: { concentration, holderCount } }: Pick<TokenTabProps, 'stats'>) {
  if (concentration === null || holderCount < 2) return null;
  const { top1, top10, top100, holdersForHalf } = concentration;
  return (
    <p>
      The largest holder has {percent(top1)} of the supply
      {holderCount > 10 && `, the ten largest ${percent(top10)}`}
      {holderCount > 100 && `, the hundred largest ${percent(top100)}`}.
      {holdersForHalf !== null &&
        ` ${countText(holdersForHalf, 'holder')} ${holdersForHalf === 1 ? 'has' : 'have'} half of it.`}
    </p>
  );
}

/** A line over equal holders would only show that they are equal. */
function hasUnequal(holders: readonly { balance: string }[]): boolean {
  return holders.length > 2 && holders.some(({ balance }) => balance !== holders[0]?.balance);
}
