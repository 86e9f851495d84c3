/** The largest holders of a token, and how concentrated it is. */
import { useAnswer } from '../../client/use-answer.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Meter } from '../../ui/facts.tsx';
import { grouped, percent } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const LIMIT = 100;

/** Precision of a share. */
const PARTS = 1_000_000n;

export function HoldersTab({ stats, supply }: TokenTabProps) {
  const list = useAnswer('token_holders', { token: stats.token, limit: LIMIT });
  return (
    <Section
      id="holders"
      title="Holders"
      note={`The ${LIMIT} largest, computed from transfers.`}
      loaded={list}
    >
      {({ holders, decimals }) => {
        const sum = holders.reduce((total, { balance }) => total + BigInt(balance), 0n);
        const isAll = holders.length === stats.holderCount;
        // Balances may add up to more than the contract reports, because it may change them without transfers.
        const whole = supply !== null && supply >= sum ? supply : sum;
        const shareOf = (units: bigint) =>
          whole === 0n ? 0 : Number((units * PARTS) / whole) / Number(PARTS);
        let running = 0n;
        const rows = holders.map((holder, i) => {
          running += BigInt(holder.balance);
          return {
            ...holder,
            rank: i + 1,
            share: shareOf(BigInt(holder.balance)),
            together: shareOf(running),
          };
        });
        const of =
          whole === supply ? 'the supply' : isAll ? 'all balances' : `what the ${LIMIT} largest hold`;
        return (
          <>
            {rows[0] && (
              <p>
                The largest holder has {percent(rows[0].share)} of {of}
                {rows[9] && `, the ten largest ${percent(rows[9].together)}`}.
              </p>
            )}
            {rows.length > 2 && (
              <Chart
                label="Share of the largest holders together"
                kind="line"
                points={rows.map(({ rank, together }) => ({
                  at: rank,
                  value: together * 100,
                  text: `The ${rank} largest hold ${percent(together)} of ${of}`,
                }))}
                ticks={[rows[0], rows.at(-1)].flatMap((row) =>
                  row ? [{ at: row.rank, text: grouped(row.rank) }] : [],
                )}
              />
            )}
            <Table
              caption="Holders"
              columns={[
                { title: 'Rank', number: true, wideOnly: true, cell: ({ rank }) => rank },
                {
                  title: 'Holder',
                  plain: true,
                  cell: (row) => <Address address={row.address} label={labelOf(row, 'address')} />,
                },
                {
                  title: decimals === null ? 'Balance, units' : 'Balance',
                  plain: true,
                  number: true,
                  cell: ({ balance }) => <Units units={balance} decimals={decimals} />,
                },
                { title: 'Share', plain: true, number: true, cell: ({ share }) => percent(share) },
                { title: '', wideOnly: true, cell: ({ share }) => <Meter share={share} /> },
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
