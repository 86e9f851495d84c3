/**
 * Where the wallets of a funding chain stand: in lines that turn at the edge like a furrow, so that a chain of any
 * length fits any width and each wallet stands next to its funder. Pure functions.
 */

export const NODE = { width: 172, height: 58 };
const GAP = { x: 112, y: 66 };

/** @typedef {{ x: number, y: number }} Place the upper left corner of a node */
/** @typedef {{ x1: number, y1: number, x2: number, y2: number, upright: boolean }} Line from funder to funded */

/**
 * @param {number} count of wallets
 * @param {number} width that there is
 * @returns {{ places: Place[], lines: Line[], width: number, height: number }}
 */
export function chainLayout(count, width) {
  const columns = Math.max(1, Math.min(count, Math.floor((width + GAP.x) / (NODE.width + GAP.x))));
  const places = Array.from({ length: count }, (_, i) => {
    const row = Math.floor(i / columns);
    const inRow = i % columns;
    const column = row % 2 === 0 ? inRow : columns - 1 - inRow;
    return { x: column * (NODE.width + GAP.x), y: row * (NODE.height + GAP.y) };
  });
  const rows = Math.ceil(count / columns);
  return {
    places,
    lines: places.slice(1).map((to, i) => lineBetween(places[i] ?? to, to)),
    width: columns * (NODE.width + GAP.x) - GAP.x,
    height: rows * (NODE.height + GAP.y) - GAP.y,
  };
}

/**
 * @param {Place} from
 * @param {Place} to
 * @returns {Line}
 */
function lineBetween(from, to) {
  if (from.y !== to.y) {
    const x = from.x + NODE.width / 2;
    return { x1: x, y1: from.y + NODE.height, x2: x, y2: to.y, upright: true };
  }
  const y = from.y + NODE.height / 2;
  return from.x < to.x
    ? { x1: from.x + NODE.width, y1: y, x2: to.x, y2: y, upright: false }
    : { x1: from.x, y1: y, x2: to.x + NODE.width, y2: y, upright: false };
}
