/** Shows whether the view follows the chain. */
import type { StreamState } from '../client/stream.ts';

const TEXTS: Record<StreamState, string> = {
  connecting: 'connecting …',
  live: 'live',
  lost: 'connection lost, reconnecting',
  off: 'no live updates',
};

export function LiveState({ state }: { state: StreamState }) {
  const lamp = state === 'live' ? 'good' : state === 'off' ? 'idle' : 'wait';
  return (
    <span class="chain small" role="status">
      <span class={`lamp ${lamp}`} aria-hidden="true" />
      {TEXTS[state]}
    </span>
  );
}
