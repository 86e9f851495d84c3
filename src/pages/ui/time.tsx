/** A time, relative or absolute. One switch changes all times of a page, and the browser remembers it. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ago, dateTime } from './format.ts';

const STORAGE_KEY = 'atlas-time';
const TICK_MS = 1_000;

type Mode = 'ago' | 'utc';

/** How each time that is shown redraws itself, by its element. */
const redraws = new Map<Element, () => void>();

/** The ages in view. Only they tick: updating a thousand rows at once would take longer than a frame. */
const inSight = new Set<Element>();
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    inSight[isIntersecting ? 'add' : 'delete'](target);
    redraws.get(target)?.();
  }
});
let mode: Mode = readMode();
let timer: ReturnType<typeof setInterval> | undefined;
addEventListener('beforeprint', redrawAll);

function readMode(): Mode {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'utc' ? 'utc' : 'ago';
  } catch {
    return 'ago';
  }
}

function redrawAll(): void {
  for (const redraw of redraws.values()) redraw();
}

function tick(): void {
  if (document.hidden) return;
  for (const element of inSight) redraws.get(element)?.();
}

function keepCurrent(element: Element, redraw: () => void): () => void {
  redraws.set(element, redraw);
  sight.observe(element);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    sight.unobserve(element);
    inSight.delete(element);
    redraws.delete(element);
    if (redraws.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The value of a function of the clock and the mode, and the element that shows it; redraws only when it changes. */
function useTicking<E extends Element>(compute: () => string): [text: string, element: RefObject<E | null>] {
  const [, redraw] = useState('');
  const element = useRef<E>(null);
  const latest = useRef(compute);
  latest.current = compute;
  useEffect(
    () =>
      element.current === null ? undefined : keepCurrent(element.current, () => redraw(latest.current())),
    [],
  );
  return [compute(), element];
}

export function Time({ iso }: { iso: string }) {
  const [text, element] = useTicking<HTMLTimeElement>(() => (mode === 'ago' ? ago(iso) : dateTime(iso)));
  return (
    <time ref={element} class="nowrap" dateTime={iso} title={`${dateTime(iso)} UTC`}>
      {text}
    </time>
  );
}

/** A time in UTC and its age, whatever the switch is set to. */
export function TimeAndAge({ iso }: { iso: string }) {
  return (
    <>
      <time dateTime={iso}>{dateTime(iso)} UTC</time>
      <small>
        <Age iso={iso} />
      </small>
    </>
  );
}

/** The age of a time by the clock, whatever the switch is set to. */
export function Age({ iso }: { iso: string }) {
  const [text, element] = useTicking<HTMLSpanElement>(() => ago(iso));
  return (
    <span ref={element} class="nowrap">
      {text}
    </span>
  );
}

export function TimeSwitch() {
  const [current, element] = useTicking<HTMLButtonElement>(() => mode);
  const change = () => {
    mode = mode === 'ago' ? 'utc' : 'ago';
    try {
      localStorage.setItem(STORAGE_KEY, mode);
    } catch {
      // If the visitor blocks storage, the choice lasts as long as the page.
    }
    redrawAll();
  };
  const title = current === 'ago' ? 'Age: show times as dates in UTC' : 'UTC: show times as ages';
  return (
    <button ref={element} type="button" class="quiet" onClick={change} aria-label={title} title={title}>
      {current === 'ago' ? 'Age' : 'UTC'}
    </button>
  );
}
