/** Which circles of a network have room for their name, and where. Pure functions. */
import { safeName } from '../../ui/format.ts';

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A node of a network, where it is drawn. */
export interface NodePlace {
  address: string;
  node: {
    label: { name: string } | null;
    /** Coins. */
    amount: number;
    /** In which roles its neighbours were added. */
    expanded: readonly string[];
  };
  radius: number;
  x: number;
  y: number;
}

export interface NodeName {
  text: string;
  /** Of the baseline. */
  x: number;
  y: number;
  anchor: 'middle' | 'start' | 'end';
  box: Box;
}

/** Null where the name would cover another one, or a circle. */
export type Named<P extends NodePlace> = P & { name: NodeName | null };

/** Names keep their size on the screen, whatever the zoom: pixels. */
export const NAME_PIXELS = 11;
const CHARACTER = 6.7;
const HEIGHT = 14;
const ASCENT = 10;
const SPACE = 3;

/** Space for names around the outermost circles: pixels. */
export const MARGIN = 48;

/** A smaller circle could not be pointed at: pixels. */
const MIN_RADIUS = 6;

export function nodeName({ address, node }: Pick<NodePlace, 'address' | 'node'>): string {
  return safeName(node.label?.name ?? '', 18) || `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/**
 * The nodes as drawn at a zoom (pixels per drawing unit), with the names that have room: `first` always, then those
 * with a label or with neighbours in the graph, then by amount. So a larger zoom shows more names.
 */
export function namedPlaces<P extends NodePlace>(
  places: ReadonlyMap<string, P>,
  zoom: number,
  first: string,
): Map<string, Named<P>> {
  const sized = [...places.values()].map((place) => ({
    ...place,
    radius: Math.max(place.radius, MIN_RADIUS / zoom),
  }));
  const rank = ({ address, node }: NodePlace) =>
    address === first ? 2 : node.label !== null || node.expanded.length > 0 ? 1 : 0;
  const frame = frameOf(sized, zoom);
  const taken = sized.map(circleBox); // A name never touches its own circle.
  const names = new Map<string, NodeName>();
  for (const place of sized.toSorted((a, b) => rank(b) - rank(a) || b.node.amount - a.node.amount)) {
    const ways = nameWays(place, zoom);
    const name =
      ways.find(({ box }) => isWithin(box, frame) && !taken.some((other) => overlap(box, other))) ??
      (place.address === first ? ways[0] : undefined);
    if (name === undefined) continue;
    names.set(place.address, name);
    taken.push(name.box);
  }
  return new Map(sized.map((place) => [place.address, { ...place, name: names.get(place.address) ?? null }]));
}

/** Below the circle, else above it, else beside it. */
function nameWays({ x, y, radius, ...place }: NodePlace, zoom: number): NodeName[] {
  const text = nodeName(place);
  const width = (text.length * CHARACTER) / zoom;
  const height = HEIGHT / zoom;
  const space = SPACE / zoom;
  const at = (left: number, top: number, anchor: NodeName['anchor']): NodeName => ({
    text,
    x: { middle: left + width / 2, start: left, end: left + width }[anchor],
    y: top + ASCENT / zoom,
    anchor,
    box: { left, right: left + width, top, bottom: top + height },
  });
  return [
    at(x - width / 2, y + radius + space, 'middle'),
    at(x - width / 2, y - radius - space - height, 'middle'),
    at(x + radius + space, y - height / 2, 'start'),
    at(x - radius - space - width, y - height / 2, 'end'),
  ];
}

function frameOf(places: readonly NodePlace[], zoom: number): Box {
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const margin = MARGIN / zoom;
  return {
    left: Math.min(...xs) - margin,
    right: Math.max(...xs) + margin,
    top: Math.min(...ys) - margin,
    bottom: Math.max(...ys) + margin,
  };
}

function isWithin(box: Box, frame: Box): boolean {
  const isAcross = box.left >= frame.left && box.right <= frame.right;
  return isAcross && box.top >= frame.top && box.bottom <= frame.bottom;
}

export function circleBox({ x, y, radius }: Pick<NodePlace, 'x' | 'y' | 'radius'>): Box {
  return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
}

export function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
