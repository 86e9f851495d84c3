/** A token: its facts, holders, transfers and first receivers. */
import { TRANSFER_KINDS } from '../../../model/transfer-kind.ts';
import type { Answers } from '../../client/answers.ts';
import type { ApiExchange } from '../../client/api.ts';
import { useAnswer, useLoaded } from '../../client/use-answer.ts';
import { BlockLink } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, grouped, kindText, shortHex, unitsText } from '../../ui/format.ts';
import { Identicon } from '../../ui/identicon.tsx';
import { addressPath, Link, tokenPath } from '../../ui/link.tsx';
import { useTitle } from '../../ui/router.ts';
import { Failure, Loading } from '../../ui/section.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { Coverage } from '../coverage.tsx';
import { tokenName } from '../token-name.ts';
import { BuyersTab } from './buyers-tab.tsx';
import { HoldersTab } from './holders-tab.tsx';
import { LaunchTab } from './launch-tab.tsx';
import { tokenNumberIn } from './nft.ts';
import { NftSearch } from './nft-search.tsx';
import { NftView } from './nft-view.tsx';
import { TokenTransfersTab } from './token-transfers-tab.tsx';
import { TradersTab } from './traders-tab.tsx';

type Stats = Answers['token_stats'];

/** The first is the default. */
const TABS = [
  { id: 'holders', title: 'Holders', show: HoldersTab },
  { id: 'transfers', title: 'Transfers', show: TokenTransfersTab },
  { id: 'buyers', title: 'First receivers', show: BuyersTab },
  { id: 'launch', title: 'Launch', show: LaunchTab },
  { id: 'traders', title: 'Traders', show: TradersTab },
] as const;

/** Selector of `totalSupply()`. */
const TOTAL_SUPPLY = '0x18160ddd';

export function TokenPage({ token, params }: { token: string; params: URLSearchParams }) {
  const answer = useAnswer('token_stats', { token });
  const stats = { ...answer, data: answer.data && countedIn(answer.data) };
  const supply = useLoaded<bigint | null>(`supply ${token}`, async (api, signal) => {
    const call = { to: token, data: TOTAL_SUPPLY };
    const exchanges: ApiExchange[] = [];
    // A contract without this function reverts; then its supply is unknown.
    const reply = await api.rpc<string>('eth_call', [call, 'latest'], signal).catch(() => null);
    if (reply !== null) exchanges.push(reply.exchange);
    return {
      data: reply !== null && /^0x[0-9a-f]{64}$/.test(reply.data) ? BigInt(reply.data) : null,
      exchanges,
    };
  });
  const name = stats.data ? tokenName(token, stats.data) : shortHex(token);
  const asked = tokenNumberIn(params.get('id'));
  const id = stats.data && !hasNumbers(stats.data) ? null : asked;
  useTitle(id === null ? name : `${name} #${id}`);
  const tab = TABS.find(({ id }) => id === params.get('tab')) ?? TABS[0];
  const Shown = tab.show;
  return (
    <>
      <header class="title">
        <p class="soft small">{stats.data?.type ? `${kindText(stats.data.type)} token` : 'Token'}</p>
        <h1 class="with-copy">
          <Identicon address={token} size={28} />
          <bdi>{name}</bdi>
        </h1>
        <p class="with-copy small">
          <Link to={addressPath(token)} class="mono break">
            {token}
          </Link>
          <Copy text={token} what="token address" />
        </p>
        {stats.error !== null && <Failure error={stats.error} onRetry={stats.reload} />}
        {stats.data && stats.data.transferCount > 0 && (
          <Facts facts={factsOf(stats.data, supply.data ?? null)} />
        )}
        {stats.data && <Coverage startBlock={stats.data.historicalCoverageStartBlock} />}
      </header>
      {stats.data === undefined ? (
        stats.error === null && <Loading />
      ) : stats.data.transferCount === 0 ? (
        <div class="notice">
          <p>
            The index contains no transfers of it. <Link to={addressPath(token)}>Show it as a wallet</Link>
          </p>
        </div>
      ) : id !== null ? (
        <NftView key={id} stats={stats.data} id={id} />
      ) : (
        <>
          {hasNumbers(stats.data) && <NftSearch token={token} />}
          <Tabs
            label="Views of the token"
            tabs={TABS.map(({ id, title }) => ({ id, title, to: `${tokenPath(token)}?tab=${id}` }))}
            current={tab.id}
          />
          <Shown stats={stats.data} params={params} />
        </>
      )}
    </>
  );
}

function hasNumbers({ type }: Stats): boolean {
  return TRANSFER_KINDS.some((kind) => kind.name === type && kind.hasTokenNumber);
}

/** Tokens with numbers are counted in pieces, not in units of unknown decimals. */
function countedIn(stats: Stats): Stats {
  return hasNumbers(stats) ? { ...stats, decimals: 0 } : stats;
}

const ACCURACY: Record<NonNullable<Stats['estimateQuality']>, string> = {
  exact: 'sampled balances match the contract',
  partial: 'transfers before the first indexed block are missing',
  unreliable: 'its balances change without transfers',
};

function factsOf(stats: Stats, supply: bigint | null): (Fact | null)[] {
  const {
    transferCount,
    holderCount,
    uniqueWallets,
    firstSeenBlock,
    firstSeenAt,
    estimateQuality,
    estimateReason,
    decimals,
    symbol,
    minted,
    burned,
  } = stats;
  const burnedNote = burned === null || burned === '0' ? [] : [`${unitsText(burned, decimals, null)} burned`];
  return [
    supply !== null
      ? {
          name: 'Supply',
          value: <Units units={supply.toString()} decimals={decimals} symbol={symbol} />,
          note: ['as reported by the contract', ...burnedNote].join('; '),
        }
      : minted !== null
        ? { name: 'Minted', value: <Units units={minted} decimals={decimals} />, note: burnedNote.join() }
        : null,
    {
      name: 'Holders',
      value: grouped(holderCount),
      note: `of ${countText(uniqueWallets, 'wallet')} that ever moved it`,
    },
    { name: 'Transfers', value: grouped(transferCount) },
    decimals === null || hasNumbers(stats) ? null : { name: 'Decimals', value: decimals },
    {
      name: 'First seen',
      value: firstSeenBlock === null ? '–' : <BlockLink block={firstSeenBlock} />,
      note: firstSeenAt === null ? undefined : <Time iso={firstSeenAt} />,
    },
    {
      name: 'Balances',
      value: estimateQuality ?? 'not examined yet',
      note:
        estimateReason ?? (estimateQuality === null ? 'counted from transfers' : ACCURACY[estimateQuality]),
    },
  ];
}
