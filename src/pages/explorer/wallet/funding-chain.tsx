/** Draws a funding chain from the wallet upwards in time. A chain that closes is drawn as a loop. */
import type { Hop } from '../../client/answers.ts';
import { Address, labelOf, TransactionLink } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { ZERO_ADDRESS } from '../../ui/format.ts';
import { Arrow } from '../../ui/icons.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { NameProvider, useNames } from '../named.tsx';

export interface ChainData {
  hops: readonly Hop[];
  /** Why the key's tier ended the chain, or null. */
  refusal: string | null;
  /** The first funder of the chain's last wallet, if the chain ends there. */
  lastFunder: string | null;
  isFull: boolean;
}

export function FundingChain({ address, chain }: { address: string; chain: ChainData }) {
  const { hops, lastFunder } = chain;
  const wallets = [address, ...hops.map(({ funder }) => funder)];
  const names = useNames(wallets);
  if (hops.length === 0)
    return <p class="notice">The index contains no transfer of coins from another wallet to this one.</p>;
  const closesAt = lastFunder === null ? -1 : wallets.indexOf(lastFunder);
  return (
    <NameProvider names={names}>
      <ol class="funding-chain">
        <li style={{ gridRow: 1 }}>
          <Address address={address} here />
        </li>
        {hops.map((hop, i) => (
          <li key={hop.hop} style={{ gridRow: i + 2 }}>
            <Payment hop={hop} />
            <Address address={hop.funder} label={labelOf(hop, 'funder')} />
          </li>
        ))}
        {closesAt >= 0 && (
          <li
            class={closesAt === 0 ? 'loop' : 'loop from-hop'}
            aria-hidden="true"
            style={{ gridRow: `${closesAt + 1} / ${wallets.length + 1}` }}
          />
        )}
      </ol>
      <p class="soft small">
        {closesAt >= 0 ? (
          <>
            The chain closes here: the last wallet received its first coins from{' '}
            <Address
              address={lastFunder ?? ''}
              label={labelOf(hops[closesAt - 1] ?? {}, 'funder')}
              here={lastFunder === address}
            />
            , shown above.
          </>
        ) : (
          endText(chain)
        )}
      </p>
    </NameProvider>
  );
}

function Payment({ hop: { amount, timestamp, txHash, source } }: { hop: Hop }) {
  return (
    <span class="payment small soft">
      <Arrow to="up" /> <Amount text={amount} symbol={COIN} />
      {source === 'internal' && 'by a contract'}
      <Time iso={timestamp} />
      <TransactionLink hash={txHash} />
    </span>
  );
}

function endText({ refusal, isFull, lastFunder }: ChainData): string {
  if (isFull && refusal !== null) return `The tier of this key limits the chain here: ${refusal}.`;
  if (isFull) return 'The API follows ten hops. Open the last wallet to continue from there.';
  if (lastFunder === ZERO_ADDRESS)
    return 'The chain begins here: the last wallet received newly minted coins.';
  return (
    'The chain begins here: the index contains no funding of the last wallet. Its coins may date from ' +
    'the genesis block, or from before the first indexed block.'
  );
}
