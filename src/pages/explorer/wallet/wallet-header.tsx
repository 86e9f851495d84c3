/** The header of a wallet's page: its name, address, behaviour, main figures, and the four first answers about it. */
import type { Answers } from '../../client/answers.ts';
import { type Loaded, useLoaded } from '../../client/use-answer.ts';
import { Address, BlockLink, labelText, TransactionLink } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import {
  blocksAgo,
  countText,
  grouped,
  NATIVE_DECIMALS,
  safeName,
  shortHex,
  unitsToText,
  ZERO_ADDRESS,
} from '../../ui/format.ts';
import { Identicon } from '../../ui/identicon.tsx';
import { Link, tokenPath } from '../../ui/link.tsx';
import { useTitle } from '../../ui/router.ts';
import { Failure } from '../../ui/section.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { Coverage } from '../coverage.tsx';
import { useNames } from '../named.tsx';
import { labelSentences } from './behaviour.ts';
import { findCreation } from './creation.ts';
import { FourAnswers } from './four-answers.tsx';
import type { WalletKnowledge } from './suspicion.ts';
import { loadNodeFacts, type WalletActivity, type WalletFacts } from './wallet-facts.ts';

interface WalletHeaderProps {
  address: string;
  facts: Loaded<WalletFacts>;
  parties: Loaded<Answers['wallet_counterparties']>;
  known: WalletKnowledge | null;
}

export function WalletHeader({ address, facts: { data, error, reload }, parties, known }: WalletHeaderProps) {
  const node = useLoaded(`node ${address}`, (api, signal) => loadNodeFacts(api, address, signal));
  const { label = null, activity = null } = data ?? {};
  const names = useNames(node.error === null ? [] : [address]);
  const isContract = node.data?.hasCode ?? names.get(address)?.contract ?? null;
  const what = addressKind(address, isContract);
  const name = safeName(label?.name ?? '', 40) || null;
  useTitle(`${what} ${name ?? shortHex(address)}`);
  const shownAddress = (
    <>
      <span class="mono break">{address}</span>
      <Copy text={address} what="address" />
    </>
  );
  return (
    <header class="title">
      <p class="soft small">
        {what}
        {label !== null && `: ${labelText(label)}`}
      </p>
      <h1 class="with-copy">
        <Identicon address={address} size={28} />
        {name === null ? shownAddress : <bdi>{name}</bdi>}
      </h1>
      {name !== null && <p class="with-copy small">{shownAddress}</p>}
      {what !== 'Zero address' && isContract === false && activity && <Behaviour labels={activity.labels} />}
      {isContract === null && node.error !== null && (
        <p class="soft small">The node does not say at present whether this is a wallet or a contract.</p>
      )}
      {what === 'Contract' && data !== undefined && (
        <CreatedBy address={address} firstBlock={activity?.summary.firstSeenBlock ?? null} />
      )}
      {address === ZERO_ADDRESS && (
        <p class="soft">Nobody has its key: what is minted comes from here, and what is burned goes here.</p>
      )}
      {error !== null && <Failure error={error} onRetry={reload} />}
      {activity && (
        <>
          <FourAnswers address={address} activity={activity} node={node} parties={parties} known={known} />
          <Facts facts={factsOf(activity)} />
        </>
      )}
      {activity === null && data !== undefined && node.data !== undefined && (
        <Facts
          facts={[
            {
              name: 'Balance',
              value: <Amount text={unitsToText(node.data.balance, NATIVE_DECIMALS)} symbol={COIN} />,
              note: 'by the node',
            },
          ]}
        />
      )}
      {data !== undefined && <Coverage startBlock={data.startBlock} />}
      {what !== 'Zero address' && node.data?.hasCode !== false && (
        <p class="small soft">
          A token contract? <Link to={tokenPath(address)}>Show it as a token</Link>
        </p>
      )}
    </header>
  );
}

/** What an address is called. Labels of behaviour are for wallets: a contract does what its callers do. */
function addressKind(address: string, isContract: boolean | null): 'Zero address' | 'Contract' | 'Wallet' {
  if (address === ZERO_ADDRESS) return 'Zero address';
  return isContract ? 'Contract' : 'Wallet';
}

function factsOf({ summary, labels }: WalletActivity): Fact[] {
  const { txCount, uniqueTokens, nativeReceived, nativeSent, firstSeenBlock, lastActivity } = summary;
  const age = labels.stats.ageBlocks;
  return [
    { name: 'Received', value: <Amount text={nativeReceived} symbol={COIN} /> },
    { name: 'Sent', value: <Amount text={nativeSent} symbol={COIN} /> },
    { name: 'Transactions', value: grouped(txCount), note: countText(uniqueTokens, 'token') },
    {
      name: 'Last activity',
      value: lastActivity === null ? '–' : <Time iso={lastActivity} />,
      note: firstSeenBlock !== null && (
        <>
          first seen {age !== null && blocksAgo(age)}, block <BlockLink block={firstSeenBlock} />
        </>
      ),
    },
  ];
}

/** Labels derived from the wallet's activity: what it did, and the criterion. */
function Behaviour({ labels }: { labels: WalletActivity['labels'] }) {
  if (labels.labels.length === 0) return null;
  return (
    <ul class="behaviour small">
      {labelSentences(labels, COIN).map(({ name, found, criterion }) => (
        <li key={name}>
          <strong>{name}</strong>: {found} <span class="soft">({criterion})</span>
        </li>
      ))}
      <li class="soft">
        {labels.confidence} confidence, from {countText(labels.stats.txCount, 'transaction')}
      </li>
    </ul>
  );
}

function CreatedBy({ address, firstBlock }: { address: string; firstBlock: number | null }) {
  const { data } = useLoaded(`creation ${address} ${firstBlock}`, (api, signal) =>
    findCreation(api, address, firstBlock, signal),
  );
  if (!data) return null; // Unknown, or not loaded yet: then there is nothing to say.
  return (
    <p class="small">
      Created by <Address address={data.creator} label={data.label} /> in{' '}
      <TransactionLink hash={data.txHash} />
    </p>
  );
}
