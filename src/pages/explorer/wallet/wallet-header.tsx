/** The header of a wallet's page: its name, address, behaviour and main figures. */
import type { Answers } from '../../client/answers.ts';
import { type Loaded, one, useAnswer, useLoaded } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf, labelText } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import {
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

type Summary = Answers['wallet_summary'];
type Behaviour = Answers['wallet_label'];

interface WalletHeaderProps {
  address: string;
  summary: Loaded<Summary>;
}

export function WalletHeader({ address, summary }: WalletHeaderProps) {
  const labels = useAnswer('wallet_label', { address });
  const balance = useLoaded(`balance ${address}`, async (api, signal) =>
    one(await api.rpc<string>('eth_getBalance', [address, 'latest'], signal)),
  );
  const code = useLoaded(`code ${address}`, async (api, signal) =>
    one(await api.rpc<string>('eth_getCode', [address, 'latest'], signal)),
  );
  const what = addressKind(address, code.data);
  const { data, error, reload } = summary;
  const given = labels.data === undefined ? null : labelOf(labels.data, 'address');
  const name = given === null ? null : safeName(given.name, 40);
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
        {given !== null && `: ${labelText(given)}`}
      </p>
      <h1 class="with-copy">
        <Identicon address={address} size={28} />
        {name === null ? shownAddress : <bdi>{name}</bdi>}
      </h1>
      {name !== null && <p class="with-copy small">{shownAddress}</p>}
      {what === 'Wallet' && labels.data && <Labels labels={labels.data} />}
      {address === ZERO_ADDRESS && (
        <p class="soft">Nobody has its key: what is minted comes from here, and what is burned goes here.</p>
      )}
      {error !== null && <Failure error={error} onRetry={reload} />}
      {data && data.txCount > 0 && <Facts facts={factsOf(data, labels.data, balance)} />}
      <p class="small soft">
        A token contract? <Link to={tokenPath(address)}>Show it as a token</Link>
      </p>
    </header>
  );
}

/** Code of an account that delegates to a contract (EIP-7702): it stays a wallet. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

/** What an address is called. Labels of behaviour are for wallets: a contract does what its callers do. */
function addressKind(address: string, code: string | undefined): 'Zero address' | 'Contract' | 'Wallet' {
  if (address === ZERO_ADDRESS) return 'Zero address';
  return code === undefined || code === '0x' || DELEGATION.test(code) ? 'Wallet' : 'Contract';
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

/** Labels derived from the wallet's activity, each with its underlying figure. */
function Labels({ labels: { labels, confidence, stats } }: { labels: Behaviour }) {
  if (labels.length === 0) return null;
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
      {labels.map((name) => (
        <span key={name} class="chip">
          {name.replaceAll('_', ' ')} <small>{figures[name]}</small>
        </span>
      ))}
      <span class="soft small">{confidence} confidence</span>
    </p>
  );
}
