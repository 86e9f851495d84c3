/** A wallet's holdings, computed from its transfers. */
import type { Answers } from '../../client/answers.ts';
import { usePages } from '../../client/use-pages.ts';
import { Units } from '../../ui/amount.tsx';
import { grouped, kindText } from '../../ui/format.ts';
import { addressPath, Link } from '../../ui/link.tsx';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TokenNamed } from '../token-named.tsx';
import type { TabProps } from './tab-props.ts';

const PAGE = 50;

type Holding = Answers['wallet_tokens']['tokens'][number];

export function TokensTab({ address, params }: TabProps) {
  const withZero = params.get('zero') === '1';
  const pages = usePages(
    `tokens ${address} ${withZero}`,
    (api, cursor, signal) =>
      api.get('wallet_tokens', { address, limit: PAGE, include_zero: withZero || null, cursor }, signal),
    (answer): readonly Holding[] => answer.tokens,
  );
  return (
    <Section
      id="tokens"
      title="Tokens"
      note="Computed from indexed transfers, most recently moved first."
      loaded={pages}
      controls={
        <label class="check">
          <input
            type="checkbox"
            checked={withZero}
            onChange={() => setParams({ zero: withZero ? null : '1' }, { replace: true })}
          />
          include tokens no longer held
        </label>
      }
    >
      {(tokens) => (
        <>
          <Table
            caption="Tokens of the wallet"
            columns={columnsFor(address)}
            rows={tokens}
            rowKey={({ tokenAddress }) => tokenAddress}
            empty="This wallet holds no tokens."
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function columnsFor(wallet: string): Column<Holding>[] {
  return [
    {
      title: 'Token',
      plain: true,
      cell: (token) => <TokenNamed token={token} />,
    },
    { title: 'Kind', wideOnly: true, cell: ({ type }) => <span class="soft nowrap">{kindText(type)}</span> },
    {
      title: 'Balance',
      plain: true,
      number: true,
      cell: ({ balance, decimals, symbol, accuracy }) => (
        <>
          <Units units={balance} decimals={decimals} symbol={symbol} />
          {accuracy !== null && accuracy !== 'exact' && (
            <span
              class="soft small"
              title="The contract reports balances that differ from the sums of its transfers"
            >
              {' '}
              {accuracy}
            </span>
          )}
        </>
      ),
    },
    {
      title: 'Transfers',
      number: true,
      cell: ({ tokenAddress, transferCount }) => (
        <Link to={`${addressPath(wallet)}?token=${tokenAddress}`}>{grouped(transferCount)}</Link>
      ),
    },
    { title: 'Last moved', cell: ({ lastSeenAt }) => <Time iso={lastSeenAt} /> },
  ];
}
