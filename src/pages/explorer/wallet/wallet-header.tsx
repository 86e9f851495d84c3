/** The header of a wallet's page: its address, name, behaviour and main figures. */
import type { Answers } from '../../client/answers.ts';
import { type Loaded, one, useAnswer, useLoaded } from '../../client/use-answer.ts';
import { Address, type AddressLabel, BlockLink, labelOf, labelText } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, grouped, NATIVE_DECIMALS, safeName, unitsToText } from '../../ui/format.ts';
import { Identicon } from '../../ui/identicon.tsx';
import { Link, tokenPath } from '../../ui/link.tsx';
import { Failure } from '../../ui/section.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';

type Summary = Answers['wallet_summary'];
type Behaviour = Answers['wallet_label'];

interface LabelsProps {
  labels: Behaviour;
  given: AddressLabel | null;
}

interface WalletHeaderProps {
  address: string;
  summary: Loaded<Summary>;
}

export function WalletHeader({ address, summary }: WalletHeaderProps) {
  const labels = useAnswer('wallet_label', { address });
  const balance = useLoaded(`balance ${address}`, async (api, signal) =>
    one(await api.rpc<string>('eth_getBalance', [address, 'latest'], signal)),
  );
  const { data, error, reload } = summary;
  return (
    <header class="title">
      <p class="soft small">Wallet</p>
      <h1 class="with-copy">
        <Identicon address={address} size={28} />
        <span class="mono break">{address}</span>
        <Copy text={address} what="address" />
      </h1>
      {labels.data && <Labels labels={labels.data} given={labelOf(labels.data, 'address')} />}
      {error !== null && <Failure error={error} onRetry={reload} />}
      {data && data.txCount > 0 && <Facts facts={factsOf(data, labels.data, balance)} />}
      <p class="small soft">
        A token contract? <Link to={tokenPath(address)}>Show it as a token</Link>
      </p>
    </header>
  );
}

function factsOf(summary: Summary, labels: Behaviour | undefined, balance: Loaded<string>): Fact[] {
  const {
    txCount,
    uniqueTokens,
    nativeReceived,
    nativeSent,
    firstSeenBlock,
    lastActivity,
    firstFundingSource,
  } = summary;
  const age = labels?.stats.ageBlocks;
  return [
    {
      name: 'Balance',
      value:
        balance.data !== undefined ? (
          <Amount text={unitsToText(BigInt(balance.data), NATIVE_DECIMALS)} symbol={COIN} />
        ) : (
          <span class="soft">{balance.error === null ? '…' : 'unknown'}</span>
        ),
      note: balance.error === null ? 'as reported by the node' : 'the node did not answer',
    },
    { name: 'Received', value: <Amount text={nativeReceived} symbol={COIN} /> },
    { name: 'Sent', value: <Amount text={nativeSent} symbol={COIN} /> },
    { name: 'Transactions', value: grouped(txCount), note: countText(uniqueTokens, 'token') },
    {
      name: 'Last activity',
      value: lastActivity === null ? '–' : <Time iso={lastActivity} />,
      note: firstSeenBlock !== null && (
        <>
          first in block <BlockLink block={firstSeenBlock} />
          {age != null && `, ${countText(age, 'block')} ago`}
        </>
      ),
    },
    {
      name: 'First funded by',
      value:
        firstFundingSource === null ? (
          'nobody'
        ) : (
          <Address address={firstFundingSource} label={labelOf(summary, 'firstFundingSource')} />
        ),
    },
  ];
}

/** The operator's name for the wallet, and labels derived from its activity, each with its underlying figure. */
function Labels({ labels: { labels, confidence, stats }, given }: LabelsProps) {
  if (labels.length === 0 && given === null) return null;
  const perBlock = stats.txCount / ((stats.lastBlock ?? 0) - (stats.firstBlock ?? 0) + 1);
  const figures: Record<Behaviour['labels'][number], string> = {
    fresh: `${countText(stats.ageBlocks ?? 0, 'block')} old`,
    whale: 'moved more than 10,000 coins',
    bot_likely: `${perBlock.toFixed(2)} transactions per block`,
    trader: countText(stats.uniqueTokens, 'token'),
    contract_likely: 'only receives internal transfers',
    high_activity: countText(stats.txCount, 'transaction'),
    casual: `${countText(stats.uniqueTokens, 'token')}, ${countText(stats.txCount, 'transaction')}`,
    regular: 'no distinctive pattern',
  };
  return (
    <p class="behaviour">
      {given !== null && (
        <span class="chip given">
          <bdi>{safeName(given.name, 40)}</bdi> <small>{labelText(given)}</small>
        </span>
      )}
      {labels.map((name) => (
        <span key={name} class="chip">
          {name.replaceAll('_', ' ')} <small>{figures[name]}</small>
        </span>
      ))}
      {labels.length > 0 && <span class="soft small">{confidence} confidence</span>}
    </p>
  );
}
