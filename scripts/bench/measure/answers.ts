/** How long each endpoint's answer takes on a large index: first with none of its pages cached, then repeated. */
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { type Figure, quantile, type Table } from '../figure.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { findSubjects, type Subjects } from '../setup/subjects.ts';
import type { AnswerTimes } from '../workers/answers.ts';

/** Wallets and tokens of each kind queried per endpoint. */
const SUBJECTS = { standard: 50, quick: 3 };

const PAGE_BYTES = 8192;

/** Milliseconds, p99. */
const BUDGETS = { uncached: { floor: 200, goal: 50 }, cached: { floor: 200, goal: 10 } };

type SubjectClass = 'ordinary' | 'hottest';

export async function measureAnswers(context: BenchContext): Promise<Table[]> {
  const { index, quick } = context.options;
  const indexPath = join(index ?? (await context.filledFolder()), 'index.db');
  const perEndpoint = quick ? SUBJECTS.quick : SUBJECTS.standard;
  context.log('answers: looking for the hottest wallets and tokens');
  const subjects = findSubjects(indexPath, perEndpoint);
  const times = await context.withWorker('answers', null, async (worker) => {
    const measured = new Map<SubjectClass, AnswerTimes[]>();
    for (const subjectClass of ['ordinary', 'hottest'] as const) {
      context.log(`answers: each endpoint about ${subjectClass} keys`);
      const ofClass = subjects[subjectClass];
      const widest = subjectClass === 'hottest';
      measured.set(
        subjectClass,
        await worker.call('measure', { indexPath, subjects: ofClass, widest, perEndpoint }),
      );
    }
    return measured;
  });
  return [
    ...[...times].map(([subjectClass, endpoints]) => answersTable(subjectClass, endpoints, subjects)),
    slowestTable(times),
  ];
}

function answersTable(
  subjectClass: SubjectClass,
  endpoints: readonly AnswerTimes[],
  { largest: { walletTransfers, tokenTransfers, holders } }: Subjects,
): Table {
  const figures = endpoints.flatMap(({ endpoint, uncached, cached, cpu, readBytes }) => {
    const figure = (column: string, unit: Figure['unit'], value: number): Figure => ({
      name: endpoint,
      column,
      unit,
      samples: [value],
    });
    return [
      figure('uncached p50', 'ms', quantile(uncached, 0.5)),
      figure('p99', 'ms', quantile(uncached, 0.99)),
      figure('processor p99', 'ms', quantile(cpu, 0.99)),
      figure('pages read p99', 'pages', quantile(readBytes, 0.99) / PAGE_BYTES),
      figure('cached p99', 'ms', quantile(cached, 0.99)),
    ];
  });
  const failed = endpoints.filter(({ failures }) => failures.length > 0);
  return {
    title: `Answers about ${subjectClass} keys of a large index, in ms at the server`,
    layout: 'grid',
    figures,
    notes: [
      ...(subjectClass === 'ordinary'
        ? []
        : [
            `The hottest wallet has ${formatNumber(walletTransfers)} transfers, the hottest token ` +
              `${formatNumber(tokenTransfers)} and ${formatNumber(holders)} holders; they are asked for the ` +
              'widest window.',
          ]),
      'Uncached: before each answer the system drops all pages of the file, and SQLite has none. Cached: ' +
        'the same answer again.',
      ...failed.map(
        ({ endpoint, failures }) =>
          `${endpoint}: ${failures.length} answers failed (${[...new Set(failures)].join(', ')}).`,
      ),
    ],
  };
}

function slowestTable(times: ReadonlyMap<SubjectClass, readonly AnswerTimes[]>): Table {
  const figures = [...times].flatMap(([subjectClass, endpoints]) =>
    (['uncached', 'cached'] as const).map((state): Figure => {
      const p99 = endpoints.map((each) => ({ name: each.endpoint, ms: quantile(each[state], 0.99) }));
      const slowest = p99.reduce((a, b) => (b.ms > a.ms ? b : a));
      return {
        name: `slowest endpoint, ${subjectClass} keys, ${state}, p99 (${slowest.name})`,
        unit: 'ms',
        samples: [slowest.ms],
        budget: BUDGETS[state],
      };
    }),
  );
  return { title: 'Answers on a large index at their slowest', layout: 'list', figures, notes: [] };
}
