/** The graph of a wallet's neighbourhood: the known facts about each address and each pair. Pure functions. */
import { csvLine } from '../../../lib/csv.ts';
import type { Answers } from '../../client/answers.ts';
import { type AddressLabel, labelOf } from '../../ui/address.tsx';
import { ZERO_ADDRESS } from '../../ui/format.ts';
import { NEIGHBOUR_ROLES, type NeighbourRole } from './network-link.ts';

/** How an address relates to the one that it was first loaded for. */
type Role = 'start' | NeighbourRole;

export interface NetworkNode {
  address: string;
  role: Role;
  label: AddressLabel | null;
  /** Coins moved between this address and the others in the graph. */
  amount: number;
  /** The roles in which its neighbours were added. */
  expanded: readonly NeighbourRole[];
}

/** The transfers between two addresses. Takes the larger value if answers differ. */
export interface NetworkLink {
  from: string;
  to: string;
  /** Coins. */
  amount: number;
  /** Transfers in both directions; 0 while unknown. */
  transfers: number;
  /** Whether this was the first funding of `to`. */
  isFunding: boolean;
}

export interface Network {
  nodes: ReadonlyMap<string, NetworkNode>;
  links: ReadonlyMap<string, NetworkLink>;
}

/** Most nodes in a graph. */
export const MAX_NODES = 200;

/** The neighbours of an address in some roles. */
export interface Neighbourhood {
  address: string;
  label: AddressLabel | null;
  roles: readonly NeighbourRole[];
  funding: Answers['wallet_funding_source']['firstFunding'];
  recipients: Answers['funding_recipients']['recipients'];
  counterparties: Answers['wallet_counterparties']['counterparties'];
}

export function startOf(address: string): Network {
  const node: NetworkNode = { address, role: 'start', label: null, amount: 0, expanded: [] };
  return { nodes: new Map([[address, node]]), links: new Map() };
}

/** The graph with the loaded neighbourhood of one of its nodes. */
export function withNeighbourhood(before: Network, loaded: Neighbourhood): Network {
  const { address, label, roles, funding: firstFunding, recipients, counterparties } = loaded;
  const nodes = new Map(before.nodes);
  const links = new Map(before.links);
  const addNode = (of: string, role: Role, label: AddressLabel | null): boolean => {
    const known = nodes.get(of);
    if (known !== undefined) nodes.set(of, { ...known, label: known.label ?? label });
    else if (nodes.size >= MAX_NODES) return false;
    else nodes.set(of, { address: of, role, label, amount: 0, expanded: [] });
    return true;
  };
  const addLink = (link: NetworkLink) => {
    const key = `${link.from} ${link.to}`;
    const known = links.get(key);
    links.set(key, {
      ...link,
      amount: Math.max(link.amount, known?.amount ?? 0),
      transfers: Math.max(link.transfers, known?.transfers ?? 0),
      isFunding: link.isFunding || (known?.isFunding ?? false),
    });
  };
  if (
    firstFunding &&
    firstFunding.from !== ZERO_ADDRESS &&
    addNode(firstFunding.from, 'funder', labelOf(firstFunding, 'from'))
  )
    addLink({
      from: firstFunding.from,
      to: address,
      amount: Number(firstFunding.amount),
      transfers: 0,
      isFunding: true,
    });
  for (const recipient of recipients) {
    if (
      recipient.address === address ||
      !addNode(recipient.address, 'recipient', labelOf(recipient, 'address'))
    )
      continue;
    const { amount, transferCount, firstFunding: isFunding } = recipient;
    addLink({
      from: address,
      to: recipient.address,
      amount: Number(amount),
      transfers: transferCount,
      isFunding,
    });
  }
  for (const party of counterparties) {
    if (party.address === address || !addNode(party.address, 'counterparty', labelOf(party, 'address')))
      continue;
    const { inCount, outCount, nativeIn, nativeOut } = party;
    if (inCount > 0)
      addLink({
        from: party.address,
        to: address,
        amount: Number(nativeIn),
        transfers: inCount,
        isFunding: false,
      });
    if (outCount > 0)
      addLink({
        from: address,
        to: party.address,
        amount: Number(nativeOut),
        transfers: outCount,
        isFunding: false,
      });
  }
  const centre = nodes.get(address);
  if (centre !== undefined) {
    const expanded = NEIGHBOUR_ROLES.filter((role) => centre.expanded.includes(role) || roles.includes(role));
    nodes.set(address, { ...centre, label: centre.label ?? label, expanded });
  }
  return { nodes: withAmounts(nodes, links), links };
}

function withAmounts(
  nodes: ReadonlyMap<string, NetworkNode>,
  links: ReadonlyMap<string, NetworkLink>,
): Map<string, NetworkNode> {
  const amounts = new Map<string, number>();
  for (const { from, to, amount } of links.values()) {
    amounts.set(from, (amounts.get(from) ?? 0) + amount);
    amounts.set(to, (amounts.get(to) ?? 0) + amount);
  }
  return new Map(
    [...nodes].map(([address, node]) => [address, { ...node, amount: amounts.get(address) ?? 0 }]),
  );
}

/** The links as CSV. */
export function networkCsv({ nodes, links }: Network): string {
  const name = (address: string) => nodes.get(address)?.label?.name;
  const rows = [...links.values()].map(({ from, to, amount, transfers, isFunding }) =>
    csvLine([from, name(from), to, name(to), amount, transfers, isFunding]),
  );
  return ['from,from_label,to,to_label,coins,transfers,first_funding', ...rows].join('\n');
}

/** Whether all neighbours of a node that can be added were added. */
export function isFullyExpanded({ expanded }: NetworkNode): boolean {
  return expanded.length === NEIGHBOUR_ROLES.length;
}

/** The colour group of a node: the category of its label, or else its role. */
export function groupOf({ label, role }: NetworkNode): string {
  return label?.category ?? role;
}
