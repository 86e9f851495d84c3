/** The index: where it stands, what it holds, where it is going. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, countText, decimal, duration, grouped } from '../ui/format.js';
import { callAdminApi } from './admin-api.js';
import { diskPart, kindsPart, nodePart, sinceStart, skippedPart } from './index-parts.js';
import { polledView } from './polled-view.js';
import { sinkPart } from './sink-part.js';

const POLL_MS = 2000;

/**
 * @param {import('./main.js').ViewContext} view
 */
export function indexView(view) {
  return polledView(POLL_MS, view, async () => {
    /** @type {import('./api-types.js').IndexState} */
    const state = await callAdminApi('GET', 'index');
    return [
      progress(state),
      ...(state.status.sink === null ? [] : [sinkPart(state.status.sink, state.status.startedAt)]),
      kindsPart(state),
      diskPart(state),
      nodePart(state.status),
      skippedPart(state.status),
    ];
  });
}

const PHASES = {
  starting: 'Waiting for the node',
  backfilling: 'Backfilling history',
  following: 'Following the chain',
  paused: 'Paused',
};

/** What the index waits for, in the place of the phase. */
const WAITS = {
  behind: 'Waiting for the node to catch up',
  another_chain: 'Stopped: the node is on another chain',
  reorg_too_deep: 'Stopped: the reorganisation is too deep',
  reorg_below_finalized: 'Stopped: finalized blocks changed',
};

/** @param {import('./api-types.js').IndexState} state */
function progress({ status }) {
  const { phase, reason, staleReason, head, nodeHead, startBlock } = status;
  const { lagBlocks, lagSeconds, etaSeconds, lastCommitAt } = status;
  return h(
    'section',
    { class: 'part' },
    h(
      'header',
      {},
      h('h1', {}, 'Index'),
      h(
        'p',
        { class: `phase ${staleReason === null ? phase : 'paused'}` },
        h('span', { class: 'lamp', 'aria-hidden': true }),
        phaseText(status),
      ),
    ),
    problems(status).map((text) => h('p', { class: 'notice bad', role: 'alert' }, text)),
    h(
      'dl',
      { class: 'facts' },
      fact(
        'Height',
        head === null ? 'empty' : grouped(head.number),
        startBlock === null ? '' : `from block ${grouped(startBlock)} on, without gaps`,
      ),
      fact(
        'Node head',
        nodeHead === null ? 'unknown' : grouped(nodeHead),
        reason === null ? '' : 'as last read',
      ),
      fact(
        'Behind',
        lagBlocks === null ? 'unknown' : countText(lagBlocks, 'block'),
        lagSeconds === null ? '' : `${duration(lagSeconds)} by the clock`,
      ),
      fact(
        'Rate',
        `${decimal(status.blocksPerSecond, 1)} blocks/s`,
        `${decimal(status.transfersPerSecond, 1)} transfers/s`,
      ),
      phase === 'backfilling'
        ? fact('Done in', etaSeconds === null ? 'unknown' : duration(etaSeconds), shareDone(status))
        : null,
      fact('Transfers', grouped(status.transfers)),
      fact(
        'Reorganisations',
        grouped(status.reorgs),
        status.reorgs === 0
          ? sinceStart(status)
          : `${sinceStart(status)}; the deepest took ${countText(status.deepestReorg, 'block')}`,
      ),
      lastCommitAt === null
        ? fact('Last commit', 'none', sinceStart(status))
        : fact('Last commit', ago(new Date(lastCommitAt).toISOString())),
    ),
  );
}

/** @param {import('./api-types.js').Status} status */
function problems({ reason, staleReason, readFailure }) {
  const isSaid = reason !== null && readFailure !== null && reason.includes(readFailure);
  return [reason ?? staleReason, isSaid ? null : readFailure].filter((text) => text !== null);
}

/** @param {import('./api-types.js').Status} status */
function phaseText({ phase, nodeChain, staleReason, capabilities, head }) {
  if (phase === 'paused' && nodeChain !== 'unchecked' && nodeChain !== 'same') return WAITS[nodeChain];
  if (staleReason !== null) return 'At the head of a stale chain';
  const isLooking = phase === 'starting' && capabilities !== null && head === null;
  return isLooking ? 'Looking for the first block' : PHASES[phase];
}

/** @param {import('./api-types.js').Status} status */
function shareDone({ head, startBlock, nodeHead }) {
  if (head === null || startBlock === null || nodeHead === null || nodeHead <= startBlock) return '';
  return `${decimal(((head.number - startBlock) / (nodeHead - startBlock)) * 100, 1)} % of the blocks are in`;
}
