/** A time, relative or absolute. One switch changes all times of a page, and the browser remembers it. */
import { useEffect, useState } from 'preact/hooks';
import { ago, dateTime } from './format.ts';

const STORAGE_KEY = 'atlas-time';
const TICK_MS = 1_000;

type Mode = 'ago' | 'utc';

/** Called at each tick and when the mode changes. */
const listeners = new Set<() => void>();
let mode: Mode = readMode();
let timer: ReturnType<typeof setInterval> | undefined;

function readMode(): Mode {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'utc' ? 'utc' : 'ago';
  } catch {
    return 'ago';
  }
}

function notify(): void {
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => document.hidden || notify(), TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The value of a function of the clock and the mode; redraws only when it changes. */
function useTicking(compute: () => string): string {
  const [, redraw] = useState('');
  const text = compute();
  useEffect(() => listen(() => redraw(compute())), [text]);
  return text;
}

export function Time({ iso }: { iso: string }) {
  const text = useTicking(() => (mode === 'ago' ? ago(iso) : dateTime(iso)));
  return (
    <time class="nowrap" dateTime={iso} title={`${dateTime(iso)} UTC`}>
      {text}
    </time>
  );
}

/** The age of a time by the clock, whatever the switch is set to. */
export function Age({ iso }: { iso: string }) {
  return <span class="nowrap">{useTicking(() => ago(iso))}</span>;
}

export function TimeSwitch() {
  const current = useTicking(() => mode);
  const change = () => {
    mode = mode === 'ago' ? 'utc' : 'ago';
    try {
      localStorage.setItem(STORAGE_KEY, mode);
    } catch {
      // If the visitor blocks storage, the choice lasts as long as the page.
    }
    notify();
  };
  const title = current === 'ago' ? 'Age: show times as dates in UTC' : 'UTC: show times as ages';
  return (
    <button type="button" class="quiet" onClick={change} aria-label={title} title={title}>
      {current === 'ago' ? 'Age' : 'UTC'}
    </button>
  );
}
