/** Draws a network on a canvas, because an image of the SVG would need a URL that the page's content policy forbids. */
import { groupOf, type Network } from './network.ts';
import type { PlacedNode } from './network-layout.ts';
import { linkEnds } from './network-view.tsx';

const SCALE = 2;
const MARGIN = 80;

/** Takes colours from the page's style, in its theme. */
export async function drawNetwork(
  network: Network,
  places: ReadonlyMap<string, PlacedNode>,
  style: CSSStyleDeclaration,
): Promise<Blob> {
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const xs = [...places.values()].map(({ x }) => x);
  const ys = [...places.values()].map(({ y }) => y);
  const [left, top] = [Math.min(...xs) - MARGIN, Math.min(...ys) - MARGIN];
  const canvas = document.createElement('canvas');
  canvas.width = (Math.max(...xs) + MARGIN - left) * SCALE;
  canvas.height = (Math.max(...ys) + MARGIN - top) * SCALE;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('the browser cannot draw images');
  context.scale(SCALE, SCALE);
  context.translate(-left, -top);
  context.fillStyle = color('surface');
  context.fillRect(left, top, canvas.width, canvas.height);
  for (const { from, to, isFunding } of network.links.values()) {
    const ends = linkEnds(places.get(from), places.get(to));
    if (ends === null) continue;
    context.strokeStyle = color(isFunding ? 'accent' : 'line-strong');
    context.lineWidth = isFunding ? 2 : 1;
    context.beginPath();
    context.moveTo(ends.x1, ends.y1);
    context.lineTo(ends.x2, ends.y2);
    context.stroke();
  }
  context.textAlign = 'center';
  context.font = `12px ${color('mono')}`;
  for (const { address, node, radius, x, y } of places.values()) {
    context.fillStyle = color(`group-${groupOf(node)}`) || color('soft');
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = color('ink');
    context.fillText(node.label?.name ?? `${address.slice(0, 6)}…${address.slice(-4)}`, x, y + radius + 14);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error('the browser did not create an image')) : resolve(blob),
    ),
  );
}
