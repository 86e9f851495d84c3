/** The origin of a wallet's first coins, the wallets with the same origin, and the wallets it funded. */
import { useState } from 'preact/hooks';
import type { Answers } from '../../client/answers.ts';
import type { ApiExchange } from '../../client/api.ts';
import { ApiError } from '../../client/api-error.ts';
import { useLoaded } from '../../client/use-answer.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { countText, grouped } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { FundedTable } from './funded-table.tsx';
import { type ChainData, FundingChain } from './funding-chain.tsx';
import type { TabProps } from './tab-props.ts';

/** The depth that every tier permits, and the most that any tier does. */
const DEPTH = 5;
const MAX_DEPTH = 10;

/** The widest block window that the API accepts. */
const ALL_BLOCKS = 1_000_000;
const LIMIT = 50;

export function FundingTab({ address }: TabProps) {
  return (
    <>
      <Chain address={address} />
      <Recipients address={address} />
      <SameFunder address={address} />
    </>
  );
}

function Chain({ address }: { address: string }) {
  const chain = useLoaded<ChainData>(`funding ${address}`, async (api, signal) => {
    let refusal: string | null = null;
    let depth = MAX_DEPTH;
    const first = await api.get('funding_chain', { address, depth }, signal).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'tier_limit') throw error;
      refusal = error.message;
      depth = DEPTH;
      return api.get('funding_chain', { address, depth }, signal);
    });
    const hops = first.data.chain;
    const last = hops.at(-1)?.funder;
    const isFull = hops.length === depth;
    const exchanges: ApiExchange[] = [first.exchange];
    if (last === undefined || isFull) return { data: { hops, refusal, lastFunder: null, isFull }, exchanges };
    const end = await api.get('wallet_funding_source', { address: last }, signal);
    const lastFunder = end.data.firstFunding?.from ?? null;
    return { data: { hops, refusal, lastFunder, isFull }, exchanges: [...exchanges, end.exchange] };
  });
  return (
    <Section
      id="funding"
      title="Funding chain"
      note="Who sent this wallet its first coins, who sent that sender its first coins, and so on."
      loaded={chain}
    >
      {(data) => <FundingChain address={address} chain={data} />}
    </Section>
  );
}

type Recipient = Answers['funding_recipients']['recipients'][number];

function Recipients({ address }: { address: string }) {
  const pages = usePages(
    `funding_recipients ${address}`,
    (api, cursor, signal) =>
      api.get('funding_recipients', { address, blocks: ALL_BLOCKS, limit: LIMIT, cursor }, signal),
    (answer): readonly Recipient[] => answer.recipients,
  );
  return (
    <Section
      id="recipients"
      title="Wallets it funded"
      note={`Wallets to which it sent coins in the last ${countText(ALL_BLOCKS, 'block')}, most recent first.`}
      loaded={pages}
    >
      {(recipients) => (
        <>
          <FundedTable
            caption="Wallets funded by this one"
            wallets={recipients}
            isSummed
            empty={`It sent no coins in the last ${countText(ALL_BLOCKS, 'block')}.`}
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

type Coordinated = Answers['coordinated_wallets'];

function SameFunder({ address }: { address: string }) {
  const [found, setFound] = useState<Coordinated | null>(null);
  const pages = usePages(
    `coordinated_wallets ${address}`,
    async (api, cursor, signal) => {
      const answer = await api.get('coordinated_wallets', { address, limit: LIMIT, cursor }, signal);
      setFound(answer.data);
      return answer;
    },
    (answer): readonly Coordinated['coordinated'][number][] => answer.coordinated,
  );
  return (
    <Section
      id="coordinated"
      title="Same first funder"
      note="Other wallets whose first coins came from the same wallet, nearest in time first."
      loaded={pages}
    >
      {(wallets) => (
        <>
          {found !== null && <CommonFunder answer={found} shown={wallets.length} />}
          <FundedTable
            caption="Wallets with the same first funder"
            wallets={wallets}
            empty="No other wallets."
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function CommonFunder({ answer, shown }: { answer: Coordinated; shown: number }) {
  const { funder, funderFundedCount, hub } = answer;
  if (funder === null) return null;
  const others = funderFundedCount - 1;
  return (
    <p class="small controls">
      <Address address={funder} label={labelOf(answer, 'funder')} /> funded{' '}
      {countText(funderFundedCount, 'wallet')} first
      {hub && ', as exchanges and faucets do: these wallets may be unrelated'}
      {shown < others && `; the nearest ${grouped(shown)} of the ${grouped(others)} others are shown`}
    </p>
  );
}
