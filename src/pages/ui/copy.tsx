/** Copies a text: an icon that appears near pointer or focus (drawn by controls.css), or a button with a word. */
import { useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

type CopyState = 'idle' | 'done' | 'failed';

function useCopy(text: string): [state: CopyState, copy: () => void] {
  const [state, setState] = useState<CopyState>('idle');
  const copy = () => {
    navigator.clipboard
      .writeText(text)
      .then(
        () => setState('done'),
        () => setState('failed'),
      )
      .finally(() => setTimeout(() => setState('idle'), SHOWN_MS));
  };
  return [state, copy];
}

const DONE = 'Copied';
const FAILED = 'The browser refused to copy';

export function Copy({ text, what }: { text: string; what: string }) {
  const [state, copy] = useCopy(text);
  const label = { idle: `Copy ${what}`, done: DONE, failed: FAILED }[state];
  return <button type="button" class={`copy ${state}`} onClick={copy} aria-label={label} title={label} />;
}

/** The word changes for a moment and is announced. */
export function CopyButton({
  text,
  label,
  class: className,
}: {
  text: string;
  label: string;
  class: string;
}) {
  const [state, copy] = useCopy(text);
  return (
    <>
      <button type="button" class={className} onClick={copy}>
        {{ idle: label, done: DONE, failed: FAILED }[state]}
      </button>
      <span class="hidden-text" role="status">
        {state === 'done' && DONE}
      </span>
    </>
  );
}
