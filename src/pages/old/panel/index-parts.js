/** What the index is made of, where it is going, and what the node at hand allows. */
import { h } from '../ui/dom.js';
import { fact } from '../ui/fact.js';
import { ago, byteSize, decimal, duration, grouped } from '../ui/format.js';
import { meter } from '../ui/meter.js';
import { table } from '../ui/table.js';

const KINDS = {
  native_direct: 'Native, direct',
  native_internal: 'Native, internal',
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
};

/** @param {import('./api-types.js').IndexState} state */
export function kindsPart({ survey, surveyFailure }) {
  if (survey === null) return part('Transfers by kind', waiting(surveyFailure));
  const { estimated, transfers } = survey.kinds;
  const rows = Object.entries(KINDS).map(([kind, name]) => ({ name, count: transfers[kind] ?? 0 }));
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  return part(
    'Transfers by kind',
    table(
      'Transfers by kind',
      [
        { title: 'Kind', plain: true, cell: ({ name }) => name },
        {
          title: 'Transfers',
          plain: true,
          number: true,
          cell: ({ count }) => `${estimated ? '≈ ' : ''}${grouped(count)}`,
        },
        { title: 'Share', plain: true, cell: ({ name, count }) => bar(count, all, name) },
      ],
      rows,
    ),
    h(
      'p',
      { class: 'soft small after' },
      `${estimated ? 'Estimated from a sample' : 'Counted'} ${ago(survey.at)}.`,
    ),
  );
}

/** @param {import('./api-types.js').IndexState} state */
export function diskPart({ status, survey, surveyFailure, forecast }) {
  if (survey === null) return part('Disk', waiting(surveyFailure));
  const { fileBytes, walBytes, freeBytes, growth, tables, unmeasured } = survey;
  const rows = [
    ...tables.filter(({ bytes }) => bytes >= fileBytes / 10_000),
    ...(unmeasured === null ? [] : [{ name: unmeasured.names.join(', '), bytes: unmeasured.bytes }]),
  ];
  return part(
    'Disk',
    h(
      'dl',
      { class: 'facts' },
      fact('index.db', byteSize(fileBytes), `and ${byteSize(walBytes)} of write-ahead log`),
      fact('Free', byteSize(freeBytes)),
      fact(
        'Growth',
        forecast?.bytesPerDay ? `${byteSize(forecast.bytesPerDay)} a day` : 'unknown yet',
        growth === null ? 'known after ten minutes of blocks' : growthText(growth),
      ),
      status.phase === 'backfilling' && forecast !== null ? filledFact(forecast, growth) : null,
      fact(
        'Full in',
        fullText(forecast),
        status.phase === 'backfilling' ? 'at this growth, once filled' : 'at this growth',
      ),
    ),
    h(
      'div',
      { class: 'after' },
      table(
        'Disk by table',
        [
          { title: 'Table with its indexes', plain: true, cell: ({ name }) => h('code', {}, name) },
          { title: 'Size', plain: true, number: true, cell: ({ bytes }) => byteSize(bytes) },
          { title: 'Share', plain: true, cell: ({ name, bytes }) => bar(bytes, fileBytes, name) },
        ],
        rows,
      ),
    ),
    h(
      'p',
      { class: 'soft small after' },
      `Measured ${ago(survey.at)}.`,
      unmeasured === null ? '' : ' Tables too large to measure are listed together.',
    ),
  );
}

/** @param {import('./api-types.js').Status} status */
export function nodePart({ capabilities, internalTransfers, internalTransfersReason }) {
  if (capabilities === null)
    return part('Node', h('p', { class: 'notice' }, 'The node has not answered yet.'));
  const { client, chainId, headTag, traces, blockReceipts } = capabilities;
  return part(
    'Node',
    h(
      'dl',
      { class: 'facts' },
      fact('Client', client),
      fact('Chain id', String(chainId)),
      fact(
        'Followed',
        `${headTag} blocks`,
        headTag === 'finalized' ? 'never rolled back' : 'reorganisations are rolled back',
      ),
      fact(
        'Internal transfers',
        internalTransfers ? 'yes' : 'no',
        internalTransfers ? `by ${traces}` : (internalTransfersReason ?? ''),
      ),
      fact(
        'Receipts',
        blockReceipts ? 'by block' : 'one by one',
        blockReceipts ? '' : 'the node offers no eth_getBlockReceipts',
      ),
    ),
  );
}

/** @param {Pick<import('./api-types.js').Status, 'startedAt'>} status */
export function sinceStart({ startedAt }) {
  return `since the daemon started ${ago(new Date(startedAt).toISOString())}`;
}

/** @param {import('./api-types.js').Status} status */
export function skippedPart(status) {
  const rows = Object.entries(status.skippedLogs).sort(([, a], [, b]) => b - a);
  const since = sinceStart(status);
  if (status.lastCommitAt === null)
    return part('Skipped logs', h('p', { class: 'notice' }, `No block was indexed ${since}.`));
  if (rows.length === 0)
    return part(
      'Skipped logs',
      h('p', { class: 'notice' }, `None ${since}. Earlier runs are not counted here.`),
    );
  return part(
    'Skipped logs',
    h(
      'p',
      { class: 'soft small' },
      `Logs that look like transfers and are none, ${since}. They are never stored.`,
    ),
    h(
      'div',
      { class: 'after' },
      table(
        'Skipped logs',
        [
          { title: 'Reason', plain: true, cell: ([reason]) => h('code', {}, reason) },
          { title: 'Logs', plain: true, number: true, cell: ([, count]) => grouped(count) },
        ],
        rows,
      ),
    ),
  );
}

/**
 * @param {string} title
 * @param {...import('../ui/dom.js').Child} content
 */
function part(title, ...content) {
  return h('section', { class: 'part', 'aria-label': title }, h('header', {}, h('h2', {}, title)), content);
}

/** @param {string | null} failure */
function waiting(failure) {
  return h(
    'p',
    { class: 'notice' },
    failure === null ? 'The file is being measured …' : `The file could not be measured: ${failure}.`,
  );
}

/**
 * @param {number} some
 * @param {number} all
 * @param {string} name
 */
function bar(some, all, name) {
  return h('span', { class: 'bar-cell' }, meter(all === 0 ? 0 : some / all, name));
}

/** @param {{ transfersPerDay: number, seconds: number }} growth */
function growthText({ transfersPerDay, seconds }) {
  return `${grouped(transfersPerDay)} transfers a day, over the last ${duration(seconds)} of the chain`;
}

/**
 * @param {import('./api-types.js').Forecast} forecast
 * @param {import('./api-types.js').Survey['growth']} growth
 */
function filledFact({ bytesWhenFilled }, growth) {
  return fact(
    'Once filled',
    bytesWhenFilled === null ? 'unknown yet' : `≈ ${byteSize(bytesWhenFilled)}`,
    growth === null
      ? 'if new blocks are like the indexed ones'
      : `if new blocks are like the newest indexed ones: ${decimal(growth.transfersPerBlock, 1)} transfers each`,
  );
}

/** @param {import('./api-types.js').Forecast | null} forecast */
function fullText(forecast) {
  const days = forecast?.daysUntilFull ?? null;
  if (days === null) return 'unknown yet';
  if (days > 3650) return 'over ten years';
  return days > 730 ? `${decimal(days / 365, 1)} years` : `${grouped(days)} days`;
}
