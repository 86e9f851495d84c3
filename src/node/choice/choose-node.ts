/**
 * Chooses one of several nodes: a pure reducer over checks of the nodes.
 *
 * The first node in the configuration is preferred. A node in use that fails, falls behind or is on another chain is
 * replaced at once by the first usable one. A preferred node is used again after a quiet period of health. A node is
 * chosen only if its head reaches the highest head that clients have seen, so no client sees the chain go backwards.
 */
import type { NodeHealth } from '../../model/index-status.ts';

/**
 * A node that is more blocks than this behind another, for BEHIND_MS, is not used. Two healthy nodes differ by one or
 * two.
 */
const MAX_BEHIND = 3;
const BEHIND_MS = 1_000;

/**
 * How long clients' highest head excludes usable nodes below it, milliseconds. If no node reaches it by then, its
 * blocks are lost with the node that had them.
 */
export const FLOOR_MS = 60_000;

/** How a node's blocks relate to the indexed ones. */
export type ChainRelation = 'same' | 'another_chain' | 'another_fork';

export type NodeEvent =
  /** A check was answered. `reason` says how the chain differs; `floor` is the floor at the time of sending. */
  | {
      kind: 'answered';
      node: number;
      head: number;
      floor: number;
      latencyMs: number;
      relation: ChainRelation;
      reason: string | null;
    }
  /** A check failed or timed out. */
  | { kind: 'failed'; node: number; reason: string }
  /** The index refuses the chain of the node in use. */
  | { kind: 'refused'; relation: Exclude<ChainRelation, 'same'>; reason: string }
  /** A client was shown this head of the node in use. */
  | { kind: 'seen'; head: number };

/** The state of one node. Times are milliseconds of a monotonic clock. */
interface NodeView {
  health: NodeHealth;
  reason: string | null;
  head: number | null;
  /** Whether its head had reached clients' highest head when last checked. */
  isInStep: boolean;
  latencyMs: number | null;
  failures: number;
  /** Since when it answers from the right chain without being behind; null while it does not. */
  goodSince: number | null;
  /** Since when its head is too far below another node's; null while it is not. */
  behindSince: number | null;
  /** Whether it was ever unusable. Only then must it first pass the quiet period. */
  wasBad: boolean;
}

export interface NodeChoice {
  /** In the order of the configuration. */
  readonly nodes: readonly NodeView[];
  /** Index of the node in use. */
  readonly current: number;
  /** Highest head that clients have seen; -1 for none. */
  readonly floor: number;
  /** Since when the node in use is unusable, or its head below the floor; null if neither. */
  readonly troubledSince: number | null;
}

export interface ChoiceRules {
  /** How long a preferred node must be good before a switch back to it, milliseconds. */
  quietMs: number;
}

const UNCHECKED: NodeView = {
  health: 'unchecked',
  reason: null,
  head: null,
  isInStep: false,
  latencyMs: null,
  failures: 0,
  goodSince: null,
  behindSince: null,
  wasBad: false,
};

export function initialChoice(count: number): NodeChoice {
  return {
    nodes: Array.from({ length: count }, () => UNCHECKED),
    current: 0,
    floor: -1,
    troubledSince: null,
  };
}

export function isUsable({ health }: NodeView): boolean {
  return health === 'healthy' || health === 'recovering';
}

/** The state after an event at time `now`. */
export function reduceChoice(
  state: NodeChoice,
  event: NodeEvent,
  now: number,
  rules: ChoiceRules,
): NodeChoice {
  if (event.kind === 'seen') return { ...state, floor: Math.max(state.floor, event.head) };
  const at = event.kind === 'refused' ? state.current : event.node;
  const noted = state.nodes.map((view, i) => (i === at ? note(view, event, i === state.current) : view));
  const best = Math.max(-1, ...noted.filter(isOnChain).map(({ head }) => head ?? -1));
  const nodes = noted.map((view) => judge(view, best, now, rules));
  return choose(raiseFloor({ ...state, nodes }, event), at, now);
}

/** Applies the event to its node. */
function note(view: NodeView, event: Exclude<NodeEvent, { kind: 'seen' }>, isCurrent: boolean): NodeView {
  if (event.kind === 'failed')
    return { ...view, health: 'failing', reason: event.reason, failures: view.failures + 1 };
  if (event.kind === 'refused') return { ...view, health: event.relation, reason: event.reason };
  const { head, floor, latencyMs, relation, reason } = event;
  const answered = { ...view, head, isInStep: head >= floor, latencyMs, reason };
  // A reorg makes the node in use differ from the index for a moment. The index itself refuses a reorg that is too
  // deep.
  if (isCurrent && relation === 'another_fork' && isOnChain(view)) return { ...answered, reason: null };
  if (relation !== 'same') return { ...answered, health: relation };
  return { ...answered, health: 'healthy' };
}

function isOnChain({ health }: NodeView): boolean {
  return health === 'healthy' || health === 'recovering' || health === 'behind';
}

/** Compares the node with the best one and tracks how long it has been good. */
function judge(view: NodeView, best: number, now: number, { quietMs }: ChoiceRules): NodeView {
  if (!isOnChain(view)) {
    const isBad = view.health !== 'unchecked';
    return { ...view, goodSince: null, behindSince: null, wasBad: view.wasBad || isBad };
  }
  const behind = best - (view.head ?? best);
  const behindSince = behind > MAX_BEHIND ? (view.behindSince ?? now) : null;
  if (behindSince !== null && now - behindSince >= BEHIND_MS) {
    const reason = `${behind} blocks behind another node`;
    return { ...view, health: 'behind', reason, behindSince, goodSince: null, wasBad: true };
  }
  const goodSince = view.goodSince ?? now;
  const isQuiet = !view.wasBad || now - goodSince >= quietMs;
  return { ...view, health: isQuiet ? 'healthy' : 'recovering', reason: null, behindSince, goodSince };
}

/** Clients see the head of the node in use. */
function raiseFloor(state: NodeChoice, event: NodeEvent): NodeChoice {
  const view = state.nodes[state.current];
  if (event.kind !== 'answered' || event.node !== state.current || view === undefined || !isUsable(view))
    return state;
  return { ...state, floor: Math.max(state.floor, view.head ?? -1) };
}

/** The node to use after an event of node `at`. */
function choose(state: NodeChoice, at: number, now: number): NodeChoice {
  const { nodes, current, floor } = state;
  const view = nodes[current];
  const reaches = (node: NodeView): boolean => (node.head ?? -1) >= floor;
  const isFine = view !== undefined && (view.health === 'unchecked' || (isUsable(view) && reaches(view)));
  if (isFine) {
    // A switch back follows the preferred node's own answer. Clients' highest head moves on during the check, so it
    // suffices to be as far as they were when it was sent.
    const asked = nodes[at];
    const isPreferred = at < current && asked?.health === 'healthy' && asked.isInStep;
    return { ...state, current: isPreferred ? at : current, troubledSince: null };
  }
  const troubledSince = state.troubledSince ?? now;
  const isCurrentUsable = view !== undefined && isUsable(view);
  if (!isCurrentUsable) {
    const healthy = nodes.findIndex((node) => node.health === 'healthy' && reaches(node));
    const next = healthy >= 0 ? healthy : nodes.findIndex((node) => isUsable(node) && reaches(node));
    if (next >= 0) return { ...state, current: next, troubledSince: null };
  }
  if (now - troubledSince < FLOOR_MS) return { ...state, troubledSince };
  // No node has the blocks above, so the chain continues from the highest head that any node has.
  const highest = Math.max(-1, ...nodes.filter(isUsable).map(({ head }) => head ?? -1));
  if (highest < 0) return { ...state, troubledSince };
  const next = isCurrentUsable ? current : nodes.findIndex((node) => isUsable(node) && node.head === highest);
  return { ...state, current: next, floor: nodes[next]?.head ?? -1, troubledSince: null };
}
