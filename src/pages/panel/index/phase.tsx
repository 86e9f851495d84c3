/** The phase of the index in words. */
import type { AdminAnswers } from '../admin-api.ts';

type Status = AdminAnswers['index']['status'];

const PHASES = {
  starting: 'Waiting for the node',
  backfilling: 'Backfilling history',
  following: 'Following the chain',
  paused: 'Paused',
};

/** What the index waits for while it is paused because of the node's chain. */
const WAITS = {
  behind: 'Waiting for the node to catch up',
  another_chain: 'Stopped: the node is on another chain',
  reorg_too_deep: 'Stopped: the reorganisation is too deep',
  reorg_below_finalized: 'Stopped: final blocks changed',
};

const LAMPS = { starting: 'wait', backfilling: 'wait', following: 'good', paused: 'bad' } as const;

export function phaseOf(status: Status) {
  const { phase, staleReason } = status;
  return { lamp: staleReason === null ? LAMPS[phase] : 'bad', text: phaseText(status) } as const;
}

function phaseText({ phase, nodeChain, staleReason, capabilities, head }: Status): string {
  if (phase === 'paused' && nodeChain !== 'unchecked' && nodeChain !== 'same') return WAITS[nodeChain];
  if (staleReason !== null) return 'At the head of a stale chain';
  const isLooking = phase === 'starting' && capabilities !== null && head === null;
  return isLooking ? 'Looking for the first block' : PHASES[phase];
}

/** Why the index does not advance or cannot be read. */
export function Problems({ status: { reason, staleReason, readFailure } }: { status: Status }) {
  const isSaid = reason !== null && readFailure !== null && reason.includes(readFailure);
  const texts = [reason ?? staleReason, isSaid ? null : readFailure].filter((text) => text !== null);
  return (
    <>
      {texts.map((text) => (
        <p key={text} class="notice bad" role="alert">
          {text}
        </p>
      ))}
    </>
  );
}
