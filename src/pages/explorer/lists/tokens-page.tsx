/** The most active tokens. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { grouped, kindText } from '../../ui/format.ts';
import { useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { TokenNamed } from '../token-named.tsx';

type Token = Answers['chain_stats']['topTokens'][number];

export function TokensPage() {
  useTitle('Tokens');
  const stats = useAnswer('chain_stats', {});
  return (
    <Section
      id="tokens"
      isPage
      title="Tokens"
      note={`${windowText(stats.data)} Use the search for other tokens.`}
      loaded={stats}
      rows={stats.data?.topTokens}
    >
      {({ topTokens }) => <TokenTable tokens={topTokens} />}
    </Section>
  );
}

/** What makes a token or a wallet one of the most active. */
export function windowText(stats: Answers['chain_stats'] | undefined, what = ''): string {
  return `By transfers ${what}in the newest ${stats === undefined ? '' : `${grouped(stats.blocksWindow)} `}blocks.`;
}

export function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  return (
    <Table
      caption="Most active tokens"
      columns={[
        {
          title: 'Token',
          plain: true,
          cell: (token: Token) => <TokenNamed token={token} />,
        },
        {
          title: 'Kind',
          wideOnly: true,
          cell: ({ type }) => <span class="soft nowrap">{type === null ? '' : kindText(type)}</span>,
        },
        { title: 'Transfers', number: true, cell: ({ transferCount }) => grouped(transferCount) },
      ]}
      rows={tokens}
      rowKey={({ tokenAddress }) => tokenAddress}
      empty="No token has moved recently."
    />
  );
}
