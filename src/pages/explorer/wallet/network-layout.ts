/** Lays out a graph's nodes with d3-force. Existing nodes keep their places when others join. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force';
import type { Network, NetworkNode } from './network.ts';

export interface PlacedNode extends SimulationNodeDatum {
  address: string;
  node: NetworkNode;
  radius: number;
  x: number;
  y: number;
}

/** Simulation steps after which the layout is stable enough. */
const STEPS = 220;

const MIN_RADIUS = 7;
const MAX_RADIUS = 26;

export function layout(network: Network, before: ReadonlyMap<string, PlacedNode>): Map<string, PlacedNode> {
  const most = Math.max(1, ...[...network.nodes.values()].map(({ amount }) => amount));
  const placed = [...network.nodes.values()].map((node, i): PlacedNode => {
    const known = before.get(node.address);
    const near = known ?? neighbourOf(node.address, network, before);
    const angle = i * 2.4; // the golden angle spreads new nodes evenly
    return {
      address: node.address,
      node,
      radius: radiusOf(node.amount, most),
      x: known?.x ?? (near?.x ?? 0) + 60 * Math.cos(angle),
      y: known?.y ?? (near?.y ?? 0) + 60 * Math.sin(angle),
    };
  });
  const links: SimulationLinkDatum<PlacedNode>[] = [...network.links.values()].map(({ from, to }) => ({
    source: from,
    target: to,
  }));
  const simulation = forceSimulation(placed)
    .force('charge', forceManyBody().strength(-700))
    .force(
      'link',
      forceLink<PlacedNode, SimulationLinkDatum<PlacedNode>>(links)
        .id(({ address }) => address)
        .distance(150),
    )
    .force(
      'collide',
      forceCollide<PlacedNode>(({ radius }) => radius + 14),
    )
    .force('x', forceX(0).strength(0.03))
    .force('y', forceY(0).strength(0.06))
    .stop();
  simulation.tick(STEPS);
  return new Map(placed.map((node) => [node.address, node]));
}

/** Area by logarithm, because amounts differ by powers of ten. */
function radiusOf(amount: number, most: number): number {
  return MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * Math.sqrt(Math.log1p(amount) / Math.log1p(most));
}

function neighbourOf(
  address: string,
  { links }: Network,
  placed: ReadonlyMap<string, PlacedNode>,
): PlacedNode | undefined {
  for (const { from, to } of links.values()) {
    const other = from === address ? placed.get(to) : to === address ? placed.get(from) : undefined;
    if (other !== undefined) return other;
  }
  return undefined;
}

/** The node that an arrow key selects: the nearest in its direction. */
export function nextNode(nodes: Iterable<PlacedNode>, from: PlacedNode, key: string): PlacedNode | undefined {
  const directions: Record<string, readonly [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  };
  const [dx, dy] = directions[key] ?? [0, 0];
  let best: PlacedNode | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
    const across = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
    const cost = along + 2 * across;
    if (along <= 0 || cost >= bestCost) continue;
    best = node;
    bestCost = cost;
  }
  return best;
}
