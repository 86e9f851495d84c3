/** Where the lines of a network begin and end, and what stands beside them. Pure functions. */
import { compact, safeName } from '../../ui/format.ts';

/** A node of a network, where it is drawn. */
interface Placed {
  address: string;
  node: { label: { name: string } | null };
  radius: number;
  x: number;
  y: number;
}

interface Link {
  from: string;
  to: string;
  /** Coins. */
  amount: number;
  /** 0 while unknown. */
  transfers: number;
}

export interface Segment {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Size of a character of a name (drawings.css: 0.6875rem, monospace), and where the name is below its circle. */
const CHARACTER = 6.7;
const NAME_TOP = 3;
export const NAME_BASE = 13;
const NAME_BOTTOM = 17;

/** Space around circles and names. */
const GAP = 2;

/** Half the distance between the lines of two directions. */
const ASIDE = 5;

/** A line shorter than this has no room for its amount. */
const SHORTEST_NAMED = 56;

export function nodeName({ address, node }: Placed): string {
  return safeName(node.label?.name ?? '', 18) || `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Each link that can be drawn, with its line. */
export function drawnLinks<L extends Link>(
  links: ReadonlyMap<string, L>,
  places: ReadonlyMap<string, Placed>,
): { link: L; line: Segment; isPair: boolean }[] {
  return [...links.values()].flatMap((link) => {
    const isPair = links.has(`${link.to} ${link.from}`);
    const line = lineBetween(places.get(link.from), places.get(link.to), isPair);
    return line === null ? [] : [{ link, line, isPair }];
  });
}

/**
 * The line between two nodes, outside of their circles and names, so that its arrowhead covers neither. Beside the one
 * of the other direction where there is one. Null where there is no room.
 */
export function lineBetween(
  from: Placed | undefined,
  to: Placed | undefined,
  isPair: boolean,
): Segment | null {
  if (from === undefined || to === undefined || from === to) return null;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const aside = isPair ? ASIDE : 0;
  const [x, y] = [from.x - dy * aside, from.y + dx * aside];
  const start = exitOf(from, x - from.x, y - from.y, dx, dy);
  const end = length - exitOf(to, x + dx * length - to.x, y + dy * length - to.y, -dx, -dy);
  if (end <= start) return null;
  return { x1: x + dx * start, y1: y + dy * start, x2: x + dx * end, y2: y + dy * end };
}

/** How far a ray must go from a point near a node's centre to leave its circle and its name. */
function exitOf(place: Placed, x: number, y: number, dx: number, dy: number): number {
  const radius = place.radius + GAP;
  const along = -(x * dx + y * dy);
  const across = Math.abs(x * dy - y * dx);
  const circle = along + Math.sqrt(Math.max(0, radius * radius - across * across));
  const halfWidth = (nodeName(place).length * CHARACTER) / 2 + GAP;
  const [top, bottom] = [place.radius + NAME_TOP - GAP, place.radius + NAME_BOTTOM + GAP];
  const [enterX, leaveX] = span(x, dx, -halfWidth, halfWidth);
  const [enterY, leaveY] = span(y, dy, top, bottom);
  const leave = Math.min(leaveX, leaveY);
  const isHit = Math.max(enterX, enterY, 0) < leave;
  return Math.max(circle, isHit ? leave : 0);
}

/** Between which distances a ray is between two bounds on one axis. */
function span(at: number, step: number, low: number, high: number): [number, number] {
  if (Math.abs(step) < 1e-9)
    return at > low && at < high ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : [1, 0];
  const [a, b] = [(low - at) / step, (high - at) / step];
  return a < b ? [a, b] : [b, a];
}

/** Where along a line of a pair its amount is: nearer to its start, so that the amounts of both are apart. */
const PAIR_PLACE = 0.33;

/** What to write on a link, and where; null where there is no room. */
export function amountMark(
  {
    link: { amount, transfers },
    line: { x1, y1, x2, y2 },
    isPair,
  }: { link: Link; line: Segment; isPair: boolean },
  coin: string,
): { text: string; x: number; y: number } | null {
  if (Math.hypot(x2 - x1, y2 - y1) < SHORTEST_NAMED) return null;
  if (amount === 0 && transfers === 0) return null;
  const text = amount > 0 ? `${compact(amount)} ${coin}` : `${transfers} ×`;
  const place = isPair ? PAIR_PLACE : 0.5;
  return { text, x: x1 + (x2 - x1) * place, y: y1 + (y2 - y1) * place + 3 };
}
