/** The most active tokens. */
import type { Answers } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { Copy } from '../../ui/copy.tsx';
import { grouped, kindText, shortHex } from '../../ui/format.ts';
import { Link, tokenPath } from '../../ui/link.tsx';
import { useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { tokenName } from '../token-name.ts';

type Token = Answers['chain_stats']['topTokens'][number];

export function TokensPage() {
  useTitle('Tokens');
  const stats = useAnswer('chain_stats', {});
  return (
    <Section
      id="tokens"
      isPage
      title="Tokens"
      note="Most transfers recently. Use the search for other tokens."
      loaded={stats}
    >
      {({ topTokens }) => <TokenTable tokens={topTokens} />}
    </Section>
  );
}

export function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  return (
    <Table
      caption="Most active tokens"
      columns={[
        {
          title: 'Token',
          plain: true,
          cell: (token: Token) => (
            <span class="with-copy" title={token.tokenAddress}>
              <Link to={tokenPath(token.tokenAddress)}>
                <bdi>{tokenName(token.tokenAddress, token)}</bdi>
              </Link>
              {token.name !== null && (
                <span class="mono soft token-address">{shortHex(token.tokenAddress)}</span>
              )}
              <Copy text={token.tokenAddress} what="token address" />
            </span>
          ),
        },
        {
          title: 'Kind',
          wideOnly: true,
          cell: ({ type }) => <span class="soft">{type === null ? '' : kindText(type)}</span>,
        },
        { title: 'Transfers', number: true, cell: ({ transferCount }) => grouped(transferCount) },
      ]}
      rows={tokens}
      rowKey={({ tokenAddress }) => tokenAddress}
      empty="No token has moved recently."
    />
  );
}
