/** The neighbourhood of a wallet as a graph that grows with each click. */
import { useRef, useState } from 'preact/hooks';
import type { Api, Exchange } from '../../client/api.ts';
import { errorText } from '../../client/api-error.ts';
import { download } from '../../client/download.ts';
import { useApi, useLoaded } from '../../client/use-answer.ts';
import { Address } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { countText } from '../../ui/format.ts';
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
import { NetworkView } from './network-view.tsx';
import type { TabProps } from './tab-props.ts';

/** Neighbours of each kind loaded per click. */
const NEIGHBOURS = 10;

/** The widest block window that the API accepts. */
const ALL_BLOCKS = 1_000_000;

interface Grown {
  network: Network;
  places: Map<string, PlacedNode>;
  exchanges: readonly Exchange[];
}

export function NetworkTab({ address }: TabProps) {
  const start = useLoaded<Grown>(`network ${address}`, async (api, signal) => {
    const { loaded, exchanges } = await neighbourhood(api, address, signal);
    const network = withNeighbourhood(startOf(address), loaded);
    return { data: { network, places: layout(network, new Map()), exchanges }, exchanges };
  });
  return (
    <Section
      id="network"
      title="Network"
      note={`Click a circle to add its first funder and up to ${NEIGHBOURS} recipients and counterparties.`}
      loaded={start}
    >
      {(grown) => <Graph key={address} address={address} start={grown} />}
    </Section>
  );
}

function Graph({ address, start }: { address: string; start: Grown }) {
  const api = useApi();
  const [{ network, places }, setGrown] = useState(start);
  const [selected, setSelected] = useState(address);
  const [state, setState] = useState('');
  const frame = useRef<HTMLDivElement>(null);
  const expand = async (of: string) => {
    setSelected(of);
    if (network.nodes.get(of)?.isExpanded !== false) return;
    if (network.nodes.size >= MAX_NODES) return setState(`The graph is full with ${MAX_NODES} addresses.`);
    setState('Loading …');
    try {
      const { loaded, exchanges } = await neighbourhood(api, of, new AbortController().signal);
      setGrown((before) => {
        const next = withNeighbourhood(before.network, loaded);
        return { network: next, places: layout(next, before.places), exchanges };
      });
      setState('');
    } catch (error) {
      setState(errorText(error));
    }
  };
  const saveImage = async () => {
    if (frame.current === null) return;
    const image = await drawNetwork(network, places, getComputedStyle(frame.current));
    download(image, `network-${address}.png`);
  };
  const node = network.nodes.get(selected);
  return (
    <div class="network" ref={frame}>
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

async function neighbourhood(api: Api, address: string, signal: AbortSignal) {
  const [funding, recipients, counterparties] = await Promise.all([
    api.get('wallet_funding_source', { address }, signal),
    api.get('funding_recipients', { address, blocks: ALL_BLOCKS, limit: NEIGHBOURS }, signal),
    api.get('wallet_counterparties', { address, limit: NEIGHBOURS }, signal),
  ]);
  const loaded: Neighbourhood = {
    address,
    funding: funding.data,
    recipients: recipients.data.recipients,
    counterparties: counterparties.data.counterparties,
  };
  return { loaded, exchanges: [funding.exchange, recipients.exchange, counterparties.exchange] };
}
