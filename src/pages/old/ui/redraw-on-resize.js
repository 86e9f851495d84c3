/** Drawings that fit the width they have. */

/**
 * Calls `draw` with the width of a box in whole pixels, now and whenever it changes.
 * @param {Element} box
 * @param {(width: number) => void} draw
 */
export function redrawOnResize(box, draw) {
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0 || width === drawn) return;
    drawn = width;
    draw(width);
  }).observe(box);
}
