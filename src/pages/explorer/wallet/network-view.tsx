/** Draws a network: circles that can be clicked, dragged, and navigated with the arrow keys. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../ui/chart.tsx';
import { compact, safeName, shortHex } from '../../ui/format.ts';
import { COIN } from '../coin.ts';
import { groupOf, isFullyExpanded, type Network } from './network.ts';
import { AMOUNT_PIXELS, amountMarks, drawnLinks } from './network-geometry.ts';
import { nextNode, type PlacedNode } from './network-layout.ts';
import { MARGIN, NAME_PIXELS, type Named, namedPlaces, nodeName } from './network-names.ts';

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
const MAX_ZOOM = 1.2;
const ZOOM_STEP = 1.3;

/** Links up to which each has its amount. Among more, only those of the selected address have. */
const MOST_AMOUNTS = 30;

export function NetworkView({ network, places: laidOut, selected, onSelect }: NetworkViewProps) {
  const [width, frame] = useWidth();
  const isTall = width < HEIGHT;
  const turned = useMemo(() => (isTall ? turn(laidOut) : laidOut), [laidOut, isTall]);
  const [camera, setCamera] = useState<Camera>(() => fit(turned, width));
  /** Pointed at, or with the keyboard focus. */
  const [picked, setPicked] = useState<string | null>(null);
  const drag = useRef<{ x: number; y: number } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => setCamera(fit(turned, width)), [turned, width]);
  const { zoom } = camera;
  const { places, links, marks } = useMemo(() => {
    const places = namedPlaces(turned, zoom, selected);
    const links = drawnLinks(network.links, places);
    const own = links.filter(({ link }) => link.from === selected || link.to === selected);
    const marks = amountMarks(links.length <= MOST_AMOUNTS ? links : own, places, zoom, COIN);
    return { places, links, marks };
  }, [network, turned, zoom, selected]);

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
  const onKeyDown = (place: PlacedNode) => (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return onSelect(place.address);
    }
    if (event.key === 'Escape') setPicked(null);
    const next = nextNode(places.values(), place, event.key);
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    if (next !== undefined)
      svg.current?.querySelector<SVGGElement>(`[data-address="${next.address}"]`)?.focus();
  };
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
            onPointerEnter={() => setPicked(place.address)}
            onPointerLeave={() => setPicked(null)}
            onFocus={() => setPicked(place.address)}
            onBlur={() => setPicked(null)}
          >
            <circle r={place.radius} />
            {!isFullyExpanded(place.node) && <path class="plus" d="M-3 0H3M0 -3V3" />}
            {place.name !== null && (
              <text
                x={place.name.x - place.x}
                y={place.name.y - place.y}
                text-anchor={place.name.anchor}
                font-size={NAME_PIXELS / zoom}
              >
                {place.name.text}
              </text>
            )}
          </g>
        ))}
        {marks.map(({ link: { from, to }, text, x, y }) => (
          <text
            key={`${from}${to}`}
            class="sum"
            x={x}
            y={y}
            text-anchor="middle"
            font-size={AMOUNT_PIXELS / zoom}
          >
            {text}
          </text>
        ))}
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
        <button type="button" class="quiet" onClick={() => setCamera(fit(turned, width))}>
          Fit
        </button>
      </div>
      {picked !== null && <Tip place={places.get(picked)} network={network} camera={camera} width={width} />}
    </div>
  );
}

/** For graphs, which are wider than high, in a frame that is higher than wide. */
function turn(places: ReadonlyMap<string, PlacedNode>): Map<string, PlacedNode> {
  return new Map([...places].map(([address, place]) => [address, { ...place, x: place.y, y: place.x }]));
}

/** Space that the box beside a circle needs: pixels. */
const TIP_HEIGHT = 120;
const TIP_WIDTH = 256;

interface TipProps {
  place: Named<PlacedNode> | undefined;
  network: Network;
  camera: Camera;
  width: number;
}

/** Above the circle; below it at the top edge. It names what has no room for its name, too. */
function Tip({ place, network, camera, width }: TipProps) {
  if (place === undefined) return null;
  const own = [...network.links.values()].filter(
    ({ from, to }) => from === place.address || to === place.address,
  );
  const sum = (side: 'from' | 'to') =>
    own.reduce((total, link) => (link[side] === place.address ? total + link.amount : total), 0);
  const x = (place.x - camera.x) * camera.zoom + width / 2;
  const y = (place.y - camera.y) * camera.zoom + HEIGHT / 2;
  const radius = place.radius * camera.zoom;
  const isBelow = y - radius < TIP_HEIGHT;
  const left = Math.max(TIP_WIDTH / 2, Math.min(width - TIP_WIDTH / 2, x));
  const top = isBelow ? y + radius : y - radius;
  return (
    <div class={isBelow ? 'tip small below' : 'tip small'} style={{ left: `${left}px`, top: `${top}px` }}>
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
  // The width is 0 while the graph is not laid out, and both extents are while it is one circle.
  const zoom = Math.min(
    MAX_ZOOM,
    Math.max(1, width - 2 * MARGIN) / Math.max(1, right - left),
    (HEIGHT - 2 * MARGIN) / Math.max(1, bottom - top),
  );
  return { x: (left + right) / 2, y: (top + bottom) / 2, zoom };
}
