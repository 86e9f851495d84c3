/** Where the lines of a network begin and end, and where their amounts have room. Pure functions. */
import { compact } from '../../ui/format.ts';
import { type Box, circleBox, type Named, type NodePlace, overlap } from './network-names.ts';

type Placed = Named<NodePlace>;

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

/** Space around circles and names. */
const GAP = 2;

/** Half the distance between the lines of two directions. */
const ASIDE = 5;

/** Amounts keep their size on the screen, as names do: pixels. */
export const AMOUNT_PIXELS = 10;
const CHARACTER = 5.6;
const HALF_HEIGHT = 6;
const BASE = 3;

/** A line shorter than this has no room for its amount: pixels. */
const SHORTEST_NAMED = 56;

export interface DrawnLink<L extends Link = Link> {
  link: L;
  line: Segment;
  isPair: boolean;
}

/** Each link that can be drawn, with its line. */
export function drawnLinks<L extends Link>(
  links: ReadonlyMap<string, L>,
  places: ReadonlyMap<string, Placed>,
): DrawnLink<L>[] {
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
  if (place.name === null) return circle;
  const { left, right, top, bottom } = place.name.box;
  const [enterX, leaveX] = span(x, dx, left - place.x - GAP, right - place.x + GAP);
  const [enterY, leaveY] = span(y, dy, top - place.y - GAP, bottom - place.y + GAP);
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

/** Where along a line its amount may be. On one of a pair it is nearer to the start: the other's amount is beyond. */
const PLACES = [0.5, 0.38, 0.62, 0.28, 0.72];
const PAIR_PLACES = [0.33, 0.24, 0.42];

export interface AmountMark {
  link: Link;
  text: string;
  /** Of the middle of the baseline. */
  x: number;
  y: number;
}

/** What to write on links at a zoom, the largest amounts first; nothing where there is no room. */
export function amountMarks(
  links: readonly DrawnLink[],
  places: ReadonlyMap<string, Placed>,
  zoom: number,
  coin: string,
): AmountMark[] {
  const taken = [...places.values()].flatMap((place) => [
    circleBox(place),
    ...(place.name === null ? [] : [place.name.box]),
  ]);
  const marks: AmountMark[] = [];
  for (const { link, line, isPair } of links.toSorted((a, b) => b.link.amount - a.link.amount)) {
    const { amount, transfers } = link;
    const { x1, y1, x2, y2 } = line;
    if (Math.hypot(x2 - x1, y2 - y1) * zoom < SHORTEST_NAMED) continue;
    if (amount === 0 && transfers === 0) continue;
    const text = amount > 0 ? `${compact(amount)} ${coin}` : `${transfers} ×`;
    const half = (text.length * CHARACTER) / 2 / zoom;
    for (const along of isPair ? PAIR_PLACES : PLACES) {
      const [x, y] = [x1 + (x2 - x1) * along, y1 + (y2 - y1) * along];
      const height = HALF_HEIGHT / zoom;
      const box: Box = { left: x - half, right: x + half, top: y - height, bottom: y + height };
      if (taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      marks.push({ link, text, x, y: y + BASE / zoom });
      break;
    }
  }
  return marks;
}
