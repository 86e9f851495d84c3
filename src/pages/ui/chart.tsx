/** Charts: a line or bars over time, readable point by point with the pointer or the arrow keys; and a sparkline. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { compact } from './format.ts';
import { type Tick, ticksAround, timeTicks } from './scale.ts';

export interface Point {
  /** Position on the x axis: Unix milliseconds, or any number with `ticks`. */
  at: number;
  value: number;
  /** Description of the point. */
  text: string;
}

interface ChartProps {
  /** For screen readers. */
  label: string;
  points: readonly Point[];
  kind: 'step' | 'line' | 'bars';
  /** Marks on the x axis. Default: times. */
  ticks?: readonly Tick[];
  /** After each number on the y axis. */
  unit?: string;
}

const HEIGHT = 220;
const LEFT = 52;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 24;
const PIXELS_PER_TICK = 110;

export function Chart({ label, points, kind, ticks, unit = '' }: ChartProps) {
  const [width, frame] = useWidth();
  const [picked, setPicked] = useState<number | null>(null);
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;

  const values = points.map(({ value }) => value);
  const marks = ticksAround(Math.min(0, ...values), Math.max(...values, 0), 4);
  const [bottom = 0, top = 1] = [marks[0], marks.at(-1)];
  const plotWidth = Math.max(1, width - LEFT - RIGHT);
  const bar = kind === 'bars' ? plotWidth / points.length : 0;
  const x = (at: number) =>
    LEFT + bar / 2 + ((at - first.at) / (last.at - first.at || 1)) * (plotWidth - bar);
  const y = (value: number) => TOP + (1 - (value - bottom) / (top - bottom || 1)) * (HEIGHT - TOP - BOTTOM);
  const shown = points[Math.min(picked ?? points.length - 1, points.length - 1)] ?? last;

  const pick = (at: number) => setPicked(Math.max(0, Math.min(points.length - 1, at)));
  const onPointerMove = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return;
    const pointer = event.clientX - box.left;
    const distances = points.map(({ at }) => Math.abs(x(at) - pointer));
    pick(distances.indexOf(Math.min(...distances)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const current = picked ?? points.length - 1;
    const steps: Record<string, number> = {
      ArrowLeft: current - 1,
      ArrowRight: current + 1,
      Home: 0,
      End: points.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pick(next);
  };
  return (
    <figure class="chart">
      {/* A slider over the points, because that is the closest role that screen readers know for reading a chart. */}
      <div
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={points.length - 1}
        aria-valuenow={picked ?? points.length - 1}
        aria-valuetext={shown.text}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPicked(null)}
        onKeyDown={onKeyDown}
        onBlur={() => setPicked(null)}
      >
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {marks.map((mark) => (
            <g key={mark}>
              <line
                class={mark === 0 ? 'zero' : 'grid'}
                x1={LEFT}
                x2={width - RIGHT}
                y1={y(mark)}
                y2={y(mark)}
              />
              <text x={LEFT - 6} y={y(mark) + 4} text-anchor="end">
                {compact(mark)}
                {unit}
              </text>
            </g>
          ))}
          {(ticks ?? timeTicks(first.at, last.at, Math.floor(plotWidth / PIXELS_PER_TICK))).map(
            ({ at, text }) => (
              <text key={at} x={x(at)} y={HEIGHT - 6} text-anchor="middle">
                {text}
              </text>
            ),
          )}
          {kind === 'bars' ? (
            points.map((point) => (
              <rect
                key={point.at}
                class={point === shown && picked !== null ? 'bar picked' : 'bar'}
                x={x(point.at) - bar * 0.4}
                width={Math.max(1, bar * 0.8)}
                y={Math.min(y(point.value), y(0))}
                height={Math.max(1, Math.abs(y(point.value) - y(0)))}
              />
            ))
          ) : (
            <>
              <path
                class="area"
                d={`${linePath(points, x, y, kind)}V${y(Math.max(0, bottom))}H${x(first.at)}Z`}
              />
              <path class="curve" d={linePath(points, x, y, kind)} />
              <circle class="dot" cx={x(shown.at)} cy={y(shown.value)} r="4" />
            </>
          )}
        </svg>
      </div>
      <figcaption class="small soft">{shown.text}</figcaption>
    </figure>
  );
}

function linePath(
  points: readonly Point[],
  x: (at: number) => number,
  y: (value: number) => number,
  kind: 'step' | 'line',
): string {
  return points
    .map(({ at, value }, i) => {
      if (i === 0) return `M${x(at)} ${y(value)}`;
      return kind === 'step' ? `H${x(at)}V${y(value)}` : `L${x(at)} ${y(value)}`;
    })
    .join('');
}

/** The width of an element in pixels, and the ref to attach to it. */
export function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return [width, frame] as const;
}

/** A line without axes beside a figure. */
export function Sparkline({ label, values }: { label: string; values: readonly number[] }) {
  if (values.length < 2) return null;
  const top = Math.max(...values, 1);
  const step = 100 / Math.max(1, values.length - 1);
  const line = values
    .map((value, i) => `${i === 0 ? 'M' : 'L'}${i * step} ${30 - (value / top) * 28}`)
    .join('');
  return (
    <svg class="sparkline" viewBox="0 0 100 31" preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="area" d={`${line}V31H0Z`} />
      <path class="curve" d={line} />
    </svg>
  );
}
