/** A wallet: its identity and all of its activity, in tabs. */
import type { Answers } from '../../client/answers.ts';
import { type Loaded, useAnswer, useLoaded } from '../../client/use-answer.ts';
import { labelOf } from '../../ui/address.tsx';
import { addressPath } from '../../ui/link.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { isLate } from '../coverage.tsx';
import { CounterpartiesTab } from './counterparties-tab.tsx';
import { FlowsTab } from './flows-tab.tsx';
import { FundingTab } from './funding-tab.tsx';
import { NetworkTab } from './lazy-network-tab.tsx';
import type { WalletKnowledge } from './suspicion.ts';
import type { TabProps } from './tab-props.ts';
import { TokensTab } from './tokens-tab.tsx';
import { TradesTab } from './trades-tab.tsx';
import { TransfersTab } from './transfers-tab.tsx';
import { loadFacts, type WalletFacts } from './wallet-facts.ts';
import { WalletHeader } from './wallet-header.tsx';

/** The first is the default. */
const TABS = [
  { id: 'transfers', title: 'Transfers', show: TransfersTab },
  { id: 'tokens', title: 'Tokens', show: TokensTab },
  { id: 'trades', title: 'Trades', show: TradesTab },
  { id: 'flows', title: 'Flows', show: FlowsTab },
  { id: 'funding', title: 'Funding', show: FundingTab },
  { id: 'network', title: 'Network', show: NetworkTab },
  { id: 'counterparties', title: 'Counterparties', show: CounterpartiesTab },
] as const;

/** Counterparties that a suspicious address is compared with. */
const PARTIES = 100;

export function WalletPage({ address, params }: Omit<TabProps, 'known'>) {
  const facts = useLoaded(`facts ${address}`, (api, signal) => loadFacts(api, address, signal));
  const parties = useAnswer('wallet_counterparties', { address, limit: PARTIES });
  const tab = TABS.find(({ id }) => id === params.get('tab')) ?? TABS[0];
  const Shown = tab.show;
  const known = knowledge(address, facts, parties);
  return (
    <>
      <WalletHeader address={address} facts={facts} parties={parties} known={known} />
      {facts.data?.activity === null ? (
        <div class="notice">
          <p>
            The index contains no transfers of this address. It may be new
            {isLate(facts.data.startBlock) && ', or its transfers may predate the first indexed block'}.
          </p>
        </div>
      ) : (
        <>
          <Tabs
            label="Views of the wallet"
            tabs={TABS.map(({ id, title }) => ({ id, title, to: `${addressPath(address)}?tab=${id}` }))}
            current={tab.id}
          />
          <Shown address={address} params={params} known={known} />
        </>
      )}
    </>
  );
}

/**
 * Null while the answers load. Without one that failed, transfers of nothing are still told: the list does not wait for
 * what does not come.
 */
function knowledge(
  address: string,
  facts: Loaded<WalletFacts>,
  parties: Loaded<Answers['wallet_counterparties']>,
): WalletKnowledge | null {
  const isLoading = [facts, parties].some(({ data, error }) => data === undefined && error === null);
  if (isLoading) return null;
  return {
    wallet: address,
    held: facts.data?.activity?.tokens.tokens ?? [],
    parties: (parties.data?.counterparties ?? []).map((party) => ({
      address: party.address,
      coins: Number(party.nativeIn) + Number(party.nativeOut),
      transfers: party.transferCount,
      name: labelOf(party, 'address')?.name ?? null,
    })),
  };
}
