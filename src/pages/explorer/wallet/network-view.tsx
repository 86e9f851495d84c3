/** Draws a network: circles that can be clicked, dragged, and navigated with the arrow keys. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../ui/chart.tsx';
import { compact, safeName, shortHex } from '../../ui/format.ts';
import { COIN } from '../coin.ts';
import { groupOf, isFullyExpanded, type Network } from './network.ts';
import { amountMark, drawnLinks, NAME_BASE, nodeName } from './network-geometry.ts';
import { nextNode, type PlacedNode } from './network-layout.ts';

interface NetworkViewProps {
  network: Network;
  places: ReadonlyMap<string, PlacedNode>;
  selected: string;
  onSelect: (address: string) => void;
}

/** The visible part of the drawing: its centre, and pixels per drawing unit. */
interface Camera {
  x: number;
  y: number;
  zoom: number;
}

const HEIGHT = 540;
const MARGIN = 50;
const MAX_ZOOM = 1.2;
const ZOOM_STEP = 1.3;

/** Links up to which each has its amount. Among more, only those of the selected address have. */
const MOST_AMOUNTS = 30;

export function NetworkView({ network, places, selected, onSelect }: NetworkViewProps) {
  const [width, frame] = useWidth();
  const [camera, setCamera] = useState<Camera>(() => fit(places, width));
  const [tip, setTip] = useState<{ address: string; x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; y: number } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => setCamera(fit(places, width)), [places, width]);

  const onPointerMove = (event: PointerEvent) => {
    if (drag.current === null) return;
    const { x, y } = drag.current;
    drag.current = { x: event.clientX, y: event.clientY };
    setCamera({
      ...camera,
      x: camera.x - (event.clientX - x) / camera.zoom,
      y: camera.y - (event.clientY - y) / camera.zoom,
    });
  };
  const showTip = (address: string) => (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect();
    if (box !== undefined) setTip({ address, x: event.clientX - box.left, y: event.clientY - box.top });
  };
  const onKeyDown = (place: PlacedNode) => (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return onSelect(place.address);
    }
    const next = nextNode(places.values(), place, event.key);
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    if (next !== undefined)
      svg.current?.querySelector<SVGGElement>(`[data-address="${next.address}"]`)?.focus();
  };
  const links = drawnLinks(network.links, places);
  const halfWidth = width / 2 / camera.zoom;
  const halfHeight = HEIGHT / 2 / camera.zoom;
  return (
    <div class="network-frame" ref={frame}>
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no fieldset */}
      <svg
        ref={svg}
        height={HEIGHT}
        viewBox={`${camera.x - halfWidth} ${camera.y - halfHeight} ${2 * halfWidth} ${2 * halfHeight}`}
        role="group"
        aria-label="Network of addresses. The arrow keys move between circles, Enter expands one."
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, y: event.clientY };
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          drag.current = null;
        }}
        onPointerLeave={() => {
          drag.current = null;
        }}
      >
        <defs>
          {['arrow', 'arrow-funding'].map((id) => (
            <marker
              key={id}
              id={id}
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8Z" class={`${id}-head`} />
            </marker>
          ))}
        </defs>
        {links.map(({ link: { from, to, isFunding }, line }) => (
          <line
            key={`${from}${to}`}
            class={isFunding ? 'link funding' : 'link'}
            marker-end={isFunding ? 'url(#arrow-funding)' : 'url(#arrow)'}
            {...line}
          />
        ))}
        {[...places.values()].map((place) => (
          // biome-ignore lint/a11y/useSemanticElements: SVG has no button
          <g
            key={place.address}
            data-address={place.address}
            class={`node group-${groupOf(place.node)} ${place.address === selected ? 'selected' : ''}`}
            transform={`translate(${place.x} ${place.y})`}
            role="button"
            tabindex={place.address === selected ? 0 : -1}
            aria-label={nodeText(place)}
            onClick={() => onSelect(place.address)}
            onKeyDown={onKeyDown(place)}
            onPointerMove={showTip(place.address)}
            onPointerLeave={() => setTip(null)}
          >
            <circle r={place.radius} />
            {!isFullyExpanded(place.node) && <path class="plus" d="M-3 0H3M0 -3V3" />}
            <text y={place.radius + NAME_BASE} text-anchor="middle">
              {nodeName(place)}
            </text>
          </g>
        ))}
        {links.map((drawn) => {
          const { link } = drawn;
          const isOwn = link.from === selected || link.to === selected;
          const mark = isOwn || links.length <= MOST_AMOUNTS ? amountMark(drawn, COIN) : null;
          return (
            mark && (
              <text key={`${link.from}${link.to}`} class="sum" x={mark.x} y={mark.y} text-anchor="middle">
                {mark.text}
              </text>
            )
          );
        })}
      </svg>
      <div class="zoom">
        <button
          type="button"
          class="quiet"
          aria-label="Larger"
          onClick={() => setCamera({ ...camera, zoom: camera.zoom * ZOOM_STEP })}
        >
          +
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Smaller"
          onClick={() => setCamera({ ...camera, zoom: camera.zoom / ZOOM_STEP })}
        >
          −
        </button>
        <button type="button" class="quiet" onClick={() => setCamera(fit(places, width))}>
          Fit
        </button>
      </div>
      {tip && <Tip place={places.get(tip.address)} network={network} x={tip.x} y={tip.y} />}
    </div>
  );
}

/** Above the pointer; below it at the top edge. */
function Tip({
  place,
  network,
  x,
  y,
}: {
  place: PlacedNode | undefined;
  network: Network;
  x: number;
  y: number;
}) {
  if (place === undefined) return null;
  const own = [...network.links.values()].filter(
    ({ from, to }) => from === place.address || to === place.address,
  );
  const sum = (side: 'from' | 'to') =>
    own.reduce((total, link) => (link[side] === place.address ? total + link.amount : total), 0);
  return (
    <div class="tip small" style={{ left: `${x}px`, top: `${y}px` }}>
      <strong>{safeName(place.node.label?.name ?? '', 40) || shortHex(place.address)}</strong>
      <span class="soft">{groupOf(place.node)}</span>
      <span>
        {compact(sum('to'))} {COIN} in, {compact(sum('from'))} {COIN} out
      </span>
      <span class="soft">
        {isFullyExpanded(place.node) ? 'Its neighbours are shown' : 'Click to load its neighbours'}
      </span>
    </div>
  );
}

function nodeText(place: PlacedNode): string {
  const { node } = place;
  return (
    `${nodeName(place)}, ${groupOf(node)}, ${compact(node.amount)} ` +
    `${COIN}${isFullyExpanded(node) ? '' : ', not expanded'}`
  );
}

/** Fits all nodes into view. */
function fit(places: ReadonlyMap<string, PlacedNode>, width: number): Camera {
  const xs = [...places.values()].map(({ x }) => x);
  const ys = [...places.values()].map(({ y }) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  // The width is 0 while the graph is not laid out.
  const zoom = Math.min(
    MAX_ZOOM,
    Math.max(1, width) / (right - left + 2 * MARGIN),
    HEIGHT / (bottom - top + 2 * MARGIN),
  );
  return { x: (left + right) / 2, y: (top + bottom) / 2, zoom };
}
