/** The neighbourhood of a wallet as a graph that grows with each click. */
import { useRef, useState } from 'preact/hooks';
import type { Api } from '../../client/api.ts';
import { errorText } from '../../client/api-error.ts';
import { download } from '../../client/download.ts';
import { useApi, useLoaded } from '../../client/use-answer.ts';
import { Address, labelOf } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Choice } from '../../ui/choice.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { countText } from '../../ui/format.ts';
import { addressPath } from '../../ui/link.tsx';
import { href, setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import {
  groupOf,
  MAX_NODES,
  type Neighbourhood,
  type Network,
  networkCsv,
  startOf,
  withNeighbourhood,
} from './network.ts';
import { drawNetwork } from './network-image.ts';
import { layout, type PlacedNode } from './network-layout.ts';
import {
  type Expansion,
  expansionsIn,
  expansionsText,
  NEIGHBOUR_ROLES,
  type NeighbourRole,
} from './network-link.ts';
import { NetworkView } from './network-view.tsx';
import type { TabProps } from './tab-props.ts';

/** Neighbours of each kind loaded per click. */
const NEIGHBOURS = 10;

/** The widest block window that the API accepts. */
const ALL_BLOCKS = 1_000_000;

/** What a click adds. */
const ADDS = [
  { value: 'all', text: 'Everything' },
  { value: 'funder', text: 'Funder' },
  { value: 'recipient', text: 'Recipients' },
  { value: 'counterparty', text: 'Counterparties' },
] as const;

interface Grown {
  network: Network;
  places: Map<string, PlacedNode>;
}

/** The URL parameters that hold the graph: what was expanded, and the selected address. */
const PARAMS = { open: 'open', selected: 'at' } as const;

export function NetworkTab({ address, params }: TabProps) {
  const start = useLoaded<Grown>(`network ${address}`, async (api, signal) => {
    const opened = [{ address, roles: NEIGHBOUR_ROLES }, ...expansionsIn(params.get(PARAMS.open))];
    const all = await Promise.all(opened.map((expansion) => neighbourhood(api, expansion, signal)));
    let grown: Grown = { network: startOf(address), places: new Map() };
    for (const { loaded } of all) if (grown.network.nodes.has(loaded.address)) grown = grow(grown, loaded);
    return { data: grown, exchanges: all.flatMap(({ exchanges }) => exchanges) };
  });
  return (
    <Section
      id="network"
      title="Network"
      note={
        `A click on a circle adds its first funder, or up to ${NEIGHBOURS} recipients and ` +
        'counterparties. The link of the page leads to the graph as it is.'
      }
      loaded={start}
    >
      {(grown) => <Graph key={address} address={address} start={grown} params={params} />}
    </Section>
  );
}

function grow(before: Grown, loaded: Neighbourhood): Grown {
  const network = withNeighbourhood(before.network, loaded);
  return { network, places: layout(network, before.places) };
}

interface GraphProps {
  address: string;
  start: Grown;
  params: URLSearchParams;
}

function Graph({ address, start, params }: GraphProps) {
  const api = useApi();
  const [grown, setGrown] = useState(start);
  const { network, places } = grown;
  const [adds, setAdds] = useState<(typeof ADDS)[number]['value']>('all');
  const [opened, setOpened] = useState(() => expansionsIn(params.get(PARAMS.open)));
  const [state, setState] = useState('');
  const frame = useRef<HTMLDivElement>(null);
  const at = params.get(PARAMS.selected);
  const selected = at !== null && network.nodes.has(at) ? at : address;
  const expand = async (of: string) => {
    setParams({ [PARAMS.selected]: of === address ? null : of }, { replace: true });
    const node = network.nodes.get(of);
    const wanted = NEIGHBOUR_ROLES.filter((role) => adds === 'all' || adds === role);
    const roles = wanted.filter((role) => node?.expanded.includes(role) === false);
    if (roles.length === 0) return;
    if (network.nodes.size >= MAX_NODES) return setState(`The graph is full with ${MAX_NODES} addresses.`);
    setState('Loading …');
    try {
      const { loaded } = await neighbourhood(api, { address: of, roles }, new AbortController().signal);
      setGrown((before) => grow(before, loaded));
      setOpened((before) => {
        const now = [...before, { address: of, roles }];
        setParams({ [PARAMS.open]: expansionsText(now) }, { replace: true });
        return now;
      });
      setState('');
    } catch (error) {
      setState(errorText(error));
    }
  };
  const saveImage = async () => {
    if (frame.current === null) return;
    const image = await drawNetwork(network, places, selected, getComputedStyle(frame.current), COIN);
    download(image, `network-${address}.png`);
  };
  const node = network.nodes.get(selected);
  return (
    <div class="network" ref={frame}>
      <div class="controls">
        <span class="small soft">A click adds</span>
        <Choice label="A click adds" options={ADDS} value={adds} onChange={setAdds} />
      </div>
      <NetworkView network={network} places={places} selected={selected} onSelect={(of) => void expand(of)} />
      <Legend network={network} />
      <div class="controls network-selected">
        {node !== undefined && (
          <>
            <Address address={node.address} label={node.label} />
            <span class="soft small">
              <Amount text={String(Number(node.amount.toFixed(6)))} symbol={COIN} /> moved within the graph
            </span>
          </>
        )}
        <span class="soft small" role="status">
          {state === '' ? countText(network.nodes.size, 'address') : state}
        </span>
        <CopyButton class="quiet" label="Copy link" text={linkTo(address, opened, selected)} />
        <button type="button" class="quiet" onClick={() => void saveImage()}>
          PNG
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() =>
            download(new Blob([networkCsv(network)], { type: 'text/csv' }), `network-${address}.csv`)
          }
        >
          CSV
        </button>
      </div>
    </div>
  );
}

/** The URL of a graph, without the key and what else the page's own URL may have. */
function linkTo(address: string, opened: readonly Expansion[], selected: string): string {
  const query = new URLSearchParams({ tab: 'network' });
  const open = expansionsText(opened);
  if (open !== null) query.set(PARAMS.open, open);
  if (selected !== address) query.set(PARAMS.selected, selected);
  return href(`${addressPath(address)}?${query}`);
}

function Legend({ network }: { network: Network }) {
  const groups = [...new Set([...network.nodes.values()].map(groupOf))];
  return (
    <ul class="legend small soft" aria-label="Colours">
      {groups.map((group) => (
        <li key={group}>
          <span class={`swatch group-${group}`} aria-hidden="true" /> {group}
        </li>
      ))}
      <li>
        <span class="swatch line" aria-hidden="true" /> first coins
      </li>
    </ul>
  );
}

async function neighbourhood(api: Api, { address, roles }: Expansion, signal: AbortSignal) {
  const wanted = <T,>(role: NeighbourRole, load: () => Promise<T>) => (roles.includes(role) ? load() : null);
  const [funding, recipients, counterparties] = await Promise.all([
    wanted('funder', () => api.get('wallet_funding_source', { address }, signal)),
    wanted('recipient', () => {
      const query = { address, blocks: ALL_BLOCKS, limit: NEIGHBOURS };
      return api.get('funding_recipients', query, signal);
    }),
    wanted('counterparty', () => api.get('wallet_counterparties', { address, limit: NEIGHBOURS }, signal)),
  ]);
  const answers = [funding, recipients, counterparties].filter((answer) => answer !== null);
  const loaded: Neighbourhood = {
    address,
    roles,
    label: answers[0] === undefined ? null : labelOf(answers[0].data, 'address'),
    funding: funding?.data.firstFunding ?? null,
    recipients: recipients?.data.recipients ?? [],
    counterparties: counterparties?.data.counterparties ?? [],
  };
  return { loaded, exchanges: answers.map(({ exchange }) => exchange) };
}
