/** Draws a network on a canvas, because an image of the SVG would need a URL that the page's content policy forbids. */
import { groupOf, type Network } from './network.ts';
import { AMOUNT_PIXELS, amountMarks, drawnLinks, type Segment } from './network-geometry.ts';
import type { PlacedNode } from './network-layout.ts';
import { NAME_PIXELS, namedPlaces } from './network-names.ts';

const SCALE = 2;
const MARGIN = 80;

/** Takes colours from the page's style, in its theme. */
export async function drawNetwork(
  network: Network,
  laidOut: ReadonlyMap<string, PlacedNode>,
  selected: string,
  style: CSSStyleDeclaration,
  coin: string,
): Promise<Blob> {
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const places = namedPlaces(laidOut, 1, selected);
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
  const links = drawnLinks(network.links, places);
  for (const { link, line } of links) {
    const name = link.isFunding ? 'accent' : 'line-strong';
    context.strokeStyle = color(name);
    context.fillStyle = color(name);
    context.lineWidth = link.isFunding ? 2 : 1;
    context.beginPath();
    context.moveTo(line.x1, line.y1);
    context.lineTo(line.x2, line.y2);
    context.stroke();
    drawArrowHead(context, line);
  }
  context.font = `${NAME_PIXELS}px ${color('mono')}`;
  for (const { node, radius, x, y, name } of places.values()) {
    context.fillStyle = color(`group-${groupOf(node)}`) || color('soft');
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    if (name === null) continue;
    context.fillStyle = color('ink');
    context.textAlign = name.anchor === 'middle' ? 'center' : name.anchor;
    context.fillText(name.text, name.x, name.y);
  }
  context.font = `${AMOUNT_PIXELS}px ${color('text')}`;
  context.textAlign = 'center';
  context.strokeStyle = color('surface');
  context.fillStyle = color('soft');
  context.lineWidth = 3;
  for (const { text, x, y } of amountMarks(links, places, 1, coin)) {
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error('the browser did not create an image')) : resolve(blob),
    ),
  );
}

const HEAD = 8;

function drawArrowHead(context: CanvasRenderingContext2D, { x1, y1, x2, y2 }: Segment): void {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [((x2 - x1) / length) * HEAD, ((y2 - y1) / length) * HEAD];
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - dx - dy / 2, y2 - dy + dx / 2);
  context.lineTo(x2 - dx + dy / 2, y2 - dy - dx / 2);
  context.fill();
}
