/** The first receivers of a token, when they received it, and their activity since. */
import { useState } from 'preact/hooks';
import type { Answers } from '../../client/answers.ts';
import { useAnswer, useLoaded } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Chart } from '../../ui/chart.tsx';
import { countText, dateTime, grouped } from '../../ui/format.ts';
import { Failure, Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const LIMIT = 200;

/** Receivers whose balance is looked up. Each costs a request. */
const CHECKED = 20;

/** Balances of a receiver that are looked through: one page. */
const TOKENS = 200;

type Buyer = Answers['token_first_buyers']['buyers'][number];

export function BuyersTab({ stats }: TokenTabProps) {
  const { token, decimals, symbol } = stats;
  const list = useAnswer('token_first_buyers', { token, limit: LIMIT });
  const [isAsked, setAsked] = useState(false);
  const checked = isAsked ? (list.data?.buyers.slice(0, CHECKED).map(({ address }) => address) ?? []) : [];
  const balances = useLoaded(`balances ${token} ${checked.join()}`, async (api, signal) => {
    const answers = await Promise.all(
      checked.map((address) => api.get('wallet_tokens', { address, limit: TOKENS }, signal)),
    );
    const held = answers.map(({ data: { tokens, nextCursor } }) => {
      const found = tokens.find(({ tokenAddress }) => tokenAddress === token);
      return found?.balance ?? (nextCursor === null ? '0' : null);
    });
    return { data: new Map(checked.map((address, i) => [address, held[i]])), exchanges: [] };
  });
  const since: Column<Buyer> = {
    title: 'Holds now',
    number: true,
    cell: ({ address }) => {
      const balance = balances.data?.get(address);
      if (balance === undefined)
        return (
          <span class="soft">
            {checked.includes(address) && balances.error === null ? '…' : 'not looked up'}
          </span>
        );
      if (balance === null) return <span class="soft">more than {TOKENS} tokens</span>;
      if (balance === '0') return <span class="out">sold</span>;
      return <Units units={balance} decimals={decimals} symbol={symbol} />;
    },
  };
  return (
    <Section id="buyers" title="First receivers" note="In order of their first receipt." loaded={list}>
      {({ buyers }) => (
        <>
          {buyers.length > 2 && buyers[0]?.firstSeenAt !== buyers.at(-1)?.firstSeenAt && (
            <Arrivals buyers={buyers} />
          )}
          {!isAsked && buyers.length > 0 && (
            <p class="pager-before">
              <button type="button" class="button" onClick={() => setAsked(true)}>
                Do they still hold it?
              </button>
            </p>
          )}
          {balances.error !== null && <Failure error={balances.error} onRetry={balances.reload} />}
          <Table
            caption="First receivers"
            columns={isAsked ? [...COLUMNS, since] : COLUMNS}
            rows={buyers}
            rowKey={({ address }) => address}
            empty="No receivers."
          />
        </>
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<Buyer>[] = [
  {
    title: 'Wallet',
    plain: true,
    cell: (row) => <Address address={row.address} label={labelOf(row, 'address')} />,
  },
  { title: 'Block', wideOnly: true, cell: ({ firstSeenBlock }) => <BlockLink block={firstSeenBlock} /> },
  { title: 'Came', plain: true, cell: ({ firstSeenAt }) => <Time iso={firstSeenAt} /> },
  { title: 'Its transfers', number: true, cell: ({ transferCount }) => grouped(transferCount) },
];

function Arrivals({ buyers }: { buyers: readonly Buyer[] }) {
  return (
    <Chart
      label="Receivers over time"
      kind="step"
      points={buyers.map(({ firstSeenAt }, i) => ({
        at: Date.parse(firstSeenAt),
        value: i + 1,
        text: `${countText(i + 1, 'receiver')} by ${dateTime(firstSeenAt)} UTC`,
      }))}
    />
  );
}
