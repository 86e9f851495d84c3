/** The PostgreSQL sink: how far it is, and why it is not. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, countText, decimal, duration, grouped } from '../ui/format.js';

const STATES = {
  connecting: 'Not connected',
  filling: 'Writing history',
  following: 'Following the index',
  waiting: 'Waiting',
};

/** The colour of the lamp, as of a phase of the index. */
const LAMPS = { connecting: 'paused', filling: 'filling', following: 'following', waiting: 'paused' };

/**
 * @param {import('./api-types.js').Sink} sink
 * @param {number} startedAt
 */
export function sinkPart(sink, startedAt) {
  const { state, reason, schema, finality, block, lagBlocks, lagSeconds, lastCommitAt } = sink;
  const since = `since the daemon started ${ago(new Date(startedAt).toISOString())}`;
  return h(
    'section',
    { class: 'part', 'aria-label': 'PostgreSQL' },
    h(
      'header',
      {},
      h('h2', {}, 'PostgreSQL'),
      h(
        'p',
        { class: `phase ${LAMPS[state]}` },
        h('span', { class: 'lamp', 'aria-hidden': true }),
        STATES[state],
      ),
    ),
    reason === null ? null : h('p', { class: 'notice bad', role: 'alert' }, reason),
    h(
      'dl',
      { class: 'facts' },
      fact('Written up to', block === null ? 'nothing yet' : grouped(block), `schema ${schema}`),
      fact(
        'Behind the index',
        lagBlocks === null ? 'unknown' : countText(lagBlocks, 'block'),
        lagSeconds === null ? '' : `${duration(lagSeconds)} of chain time`,
      ),
      fact('Rate', `${decimal(sink.transfersPerSecond, 1)} transfers/s`),
      fact(
        'Last commit',
        lastCommitAt === null ? 'none' : ago(new Date(lastCommitAt).toISOString()),
        lastCommitAt === null ? since : '',
      ),
      fact('Rollbacks', grouped(sink.rollbacks), finality === 'finalized' ? 'final blocks only' : since),
      fact('Failed attempts', grouped(sink.errors), since),
    ),
  );
}
