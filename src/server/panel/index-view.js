/** The index: where it stands, what it holds, where it is going. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, countText, decimal, duration, grouped } from '../ui/format.js';
import { callAdminApi } from './admin-api.js';
import { diskPart, kindsPart, nodePart, skippedPart } from './index-parts.js';
import { polledView } from './polled-view.js';

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
      kindsPart(state),
      diskPart(state),
      nodePart(state.status),
      skippedPart(state.status),
    ];
  });
}

const PHASES = {
  starting: 'Waiting for the node',
  filling: 'Filling in history',
  following: 'Following the chain',
  paused: 'Standing still',
};

/** @param {import('./api-types.js').IndexState} state */
function progress({ status }) {
  const { phase, reason, head, nodeHead, startBlock, lagBlocks, lagSeconds, etaSeconds, lastCommitAt } =
    status;
  return h(
    'section',
    { class: 'part' },
    h(
      'header',
      {},
      h('h1', {}, 'Index'),
      h(
        'p',
        { class: `phase ${phase}` },
        h('span', { class: 'lamp', 'aria-hidden': true }),
        phaseText(status),
      ),
    ),
    reason === null ? null : h('p', { class: 'notice bad', role: 'alert' }, reason),
    h(
      'dl',
      { class: 'facts' },
      fact(
        'Height',
        head === null ? 'empty' : grouped(head.number),
        startBlock === null ? '' : `from block ${grouped(startBlock)} on, without holes`,
      ),
      fact('Head of the node', nodeHead === null ? 'unknown' : grouped(nodeHead)),
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
      phase === 'filling'
        ? fact('Done in', etaSeconds === null ? 'unknown' : duration(etaSeconds), shareDone(status))
        : null,
      fact('Transfers', grouped(status.transfers)),
      fact(
        'Reorganisations',
        grouped(status.reorgs),
        status.reorgs === 0
          ? 'since the start'
          : `the deepest took ${countText(status.deepestReorg, 'block')}`,
      ),
      fact('Last commit', lastCommitAt === null ? 'none yet' : ago(new Date(lastCommitAt).toISOString())),
    ),
  );
}

/** @param {import('./api-types.js').Status} status */
function phaseText({ phase, capabilities, head }) {
  const isLooking = phase === 'starting' && capabilities !== null && head === null;
  return isLooking ? 'Looking for the first block' : PHASES[phase];
}

/** @param {import('./api-types.js').Status} status */
function shareDone({ head, startBlock, nodeHead }) {
  if (head === null || startBlock === null || nodeHead === null || nodeHead <= startBlock) return '';
  return `${decimal(((head.number - startBlock) / (nodeHead - startBlock)) * 100, 1)} % of the blocks are in`;
}
