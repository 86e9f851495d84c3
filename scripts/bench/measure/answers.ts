/** How long each endpoint's answer takes on a large index: first with none of its pages cached, then repeated. */
import { join } from 'node:path';
import { formatNumber } from '../../../src/cli/format.ts';
import { type Figure, quantile, type Table } from '../figure.ts';
import { apiInputs, nameOf } from '../load/api-requests.ts';
import { hardInputsOf } from '../load/hard-inputs.ts';
import type { BenchContext } from '../setup/bench-context.ts';
import { findSubjects, type SubjectSet, type Subjects } from '../setup/subjects.ts';
import type { AnswerTimes, Question } from '../workers/answers.ts';

/** Wallets and tokens of each kind queried per endpoint, and per further way to ask it. */
const SUBJECTS = { standard: 50, quick: 3 };
const SUBJECTS_OF_HARD = { standard: 20, quick: 2 };

const PAGE_BYTES = 8192;

/** Milliseconds, p99. */
const BUDGETS = { uncached: { floor: 200, goal: 50 }, cached: { floor: 200, goal: 10 } };
/** Of the endpoints of trades. */
const TRADE_BUDGETS = { uncached: { floor: 200, goal: 50 }, cached: { floor: 60, goal: 10 } };
const RANKING_BUDGETS = { uncached: { floor: 200, goal: 100 }, cached: { floor: 60, goal: 20 } };
const OF_TRADES =
  /^(wallet_trades|wallet_profit|token_launch|token_transfers|balance_history|token_traders)\b/;

/** Those whose first answer of a process is measured too. */
const FIRST_ASKED: ReadonlySet<string> = new Set([
  'wallet_trades',
  'wallet_profit',
  'balance_history',
  'token_traders (blocks, half)',
  'token_launch',
  'token_transfers',
]);

type SubjectClass = 'ordinary' | 'hottest';

export async function measureAnswers(context: BenchContext): Promise<Table[]> {
  const { index, quick } = context.options;
  const indexPath = join(index ?? (await context.filledFolder()), 'index.db');
  const perEndpoint = quick ? SUBJECTS.quick : SUBJECTS.standard;
  context.log('answers: looking for the hottest wallets and tokens');
  const subjects = findSubjects(indexPath, perEndpoint);
  const measured = new Map<SubjectClass, AnswerTimes[]>();
  for (const subjectClass of ['ordinary', 'hottest'] as const) {
    context.log(`answers: each endpoint about ${subjectClass} keys`);
    const questions = questionsAbout(subjects[subjectClass], subjectClass === 'hottest', quick);
    const times = await context.withWorker('answers', null, async (worker) => {
      const answers: AnswerTimes[] = [];
      for (const question of questions)
        answers.push(await worker.call('measure', { indexPath, ...question }));
      return answers;
    });
    measured.set(subjectClass, times);
  }
  return [
    ...[...measured].map(([subjectClass, endpoints]) => answersTable(subjectClass, endpoints, subjects)),
    tradesTable(measured.get('hottest') ?? [], await firstAnswers(context, indexPath, subjects.hottest)),
    slowestTable(measured),
  ];
}

/** By endpoint, how long a new process takes for its first answer. */
async function firstAnswers(
  context: BenchContext,
  indexPath: string,
  subjects: SubjectSet,
): Promise<ReadonlyMap<string, number>> {
  const first = new Map<string, number>();
  for (const question of questionsAbout(subjects, true, context.options.quick)) {
    if (!FIRST_ASKED.has(question.name)) continue;
    const ms = await context.withWorker('answers', null, (worker) =>
      worker.call('first', { indexPath, ...question }),
    );
    first.set(question.name, ms);
  }
  return first;
}

/** What is asked, without what only a node can answer. */
function questionsAbout(subjects: SubjectSet, widest: boolean, quick: boolean): Question[] {
  const perEndpoint = quick ? SUBJECTS.quick : SUBJECTS.standard;
  const perHard = quick ? SUBJECTS_OF_HARD.quick : SUBJECTS_OF_HARD.standard;
  const asked = apiInputs(subjects, widest)
    .filter(({ endpoint }) => endpoint.askNode === undefined || endpoint.nodeParameter !== undefined)
    .map(({ endpoint: { path }, inputs }) => ({
      path,
      name: nameOf(path),
      inputs: inputs.slice(0, perEndpoint),
    }));
  const hard = hardInputsOf(subjects).map(({ endpoint: { path }, name, inputs }) => ({
    path,
    name,
    inputs: inputs.slice(0, perHard),
  }));
  return [...asked, ...hard];
}

function answersTable(
  subjectClass: SubjectClass,
  endpoints: readonly AnswerTimes[],
  { largest: { walletTransfers, tokenTransfers, holders } }: Subjects,
): Table {
  const figures = endpoints.flatMap(({ endpoint, uncached, warm, cached, cpu, readBytes }) => {
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
      figure('new, cached p99', 'ms', quantile(warm, 0.99)),
      figure('cached p99', 'ms', quantile(cached, 0.99)),
    ];
  });
  const failed = endpoints.filter(({ failures }) => failures.length > 0);
  const truncated = endpoints.filter((each) => each.truncated > 0);
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
      'Uncached: before each answer the system drops all pages of the file, and SQLite has none. New, cached: a ' +
        'new connection asks once more, with cached pages. Cached: it asks again.',
      ...truncated.map(
        ({ endpoint, truncated, cached }) =>
          `${endpoint}: ${truncated} of ${cached.length} answers are truncated.`,
      ),
      ...failed.map(
        ({ endpoint, failures }) =>
          `${endpoint}: ${failures.length} answers failed (${[...new Set(failures)].join(', ')}).`,
      ),
    ],
  };
}

/** The endpoints of trades and histories, each way to ask them. */
function tradesTable(endpoints: readonly AnswerTimes[], first: ReadonlyMap<string, number>): Table {
  const figures = endpoints
    .filter(({ endpoint }) => OF_TRADES.test(endpoint))
    .flatMap((times): Figure[] => {
      const name = `${times.endpoint}, hottest keys`;
      const budgets = times.endpoint === 'token_traders (all time)' ? RANKING_BUDGETS : TRADE_BUDGETS;
      const firstMs = first.get(times.endpoint);
      const figures = (['uncached', 'cached'] as const).map(
        (state): Figure => ({
          name: `${name}, ${state}, p99`,
          unit: 'ms',
          samples: [quantile(times[state], 0.99)],
          budget: budgets[state],
        }),
      );
      if (firstMs !== undefined)
        figures.push({ name: `${name}, first of a process, uncached`, unit: 'ms', samples: [firstMs] });
      return figures;
    });
  return {
    title: 'Trades and histories of the hottest wallets and tokens',
    layout: 'list',
    figures,
    notes: [],
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
