/** Copies a text; shown when the pointer or the focus is near it. */
import { useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

export function Copy({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const copy = () => {
    navigator.clipboard
      .writeText(text)
      .then(
        () => setState('done'),
        () => setState('failed'),
      )
      .finally(() => setTimeout(() => setState('idle'), SHOWN_MS));
  };
  const label = { idle: `Copy ${what}`, done: 'Copied', failed: 'The browser does not allow copying' }[state];
  return (
    <button type="button" class={`copy ${state}`} onClick={copy} aria-label={label} title={label}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {state === 'done' ? (
          <path d="M3 8.5l3.5 3.5L13 5" />
        ) : (
          <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />
        )}
      </svg>
    </button>
  );
}
