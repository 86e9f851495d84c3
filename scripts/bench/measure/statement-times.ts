/**
 * Where the time of a write goes, statement by statement, without a line in the measured code: wraps the driver's
 * statements at run time. Reading the clock twice per statement costs a few percent, so the total is measured
 * separately.
 */
import { type Db, openDatabase } from '../../../src/store/open-database.ts';

/** Milliseconds by operation: `insert transfers`, `read wallets`, `commit`, `checkpoint`; `JavaScript` is the rest. */
export type StepTimes = ReadonlyMap<string, number>;

const WRAPPED = ['run', 'get', 'all'] as const;

/** Runs a write and returns where its time went. Checkpoints are postponed to its end and timed separately. */
export function timeStatements(write: () => void): StepTimes {
  const times = new Map<string, number>();
  const connections = new Set<Db>();
  const add = (step: string, ms: number) => times.set(step, (times.get(step) ?? 0) + ms);
  const unwrap = wrapStatements((statement, ms) => {
    if (!connections.has(statement.database)) {
      connections.add(statement.database);
      statement.database.pragma('wal_autocheckpoint = 0');
    }
    add(stepOf(statement.source), ms);
  });
  const startedAt = performance.now();
  try {
    write();
  } finally {
    unwrap();
  }
  const inStatements = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  add('JavaScript', performance.now() - startedAt - inStatements);
  for (const db of connections) {
    const checkpointAt = performance.now();
    db.pragma('wal_checkpoint(PASSIVE)');
    add('checkpoint', performance.now() - checkpointAt);
  }
  return times;
}

interface StatementInfo {
  readonly source: string;
  readonly database: Db;
}

/** Makes every statement of this process report the time of each run, until the returned function is called. */
function wrapStatements(onRun: (statement: StatementInfo, ms: number) => void): () => void {
  const db = openDatabase(':memory:');
  const prototype: object = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  const originals = WRAPPED.map((name) => [name, Object.getOwnPropertyDescriptor(prototype, name)] as const);
  for (const [name, original] of originals) {
    if (original === undefined) throw new Error(`the driver's statements have no ${name}`);
    const run: (this: StatementInfo, ...parameters: unknown[]) => unknown = original.value;
    const timed = function (this: StatementInfo, ...parameters: unknown[]): unknown {
      const startedAt = performance.now();
      const result = run.apply(this, parameters);
      onRun(this, performance.now() - startedAt);
      return result;
    };
    Object.defineProperty(prototype, name, { ...original, value: timed });
  }
  return () => {
    for (const [name, original] of originals) Object.defineProperty(prototype, name, original ?? {});
  };
}

const VERBS: Record<string, string> = { select: 'read', with: 'read', replace: 'insert' };

/** What a statement does, in at most two words. */
export function stepOf(sql: string): string {
  const verb = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? '';
  if (verb === 'begin' || verb === 'commit') return 'commit';
  const table = /\b(?:from|into|update)\s+(?:or\s+\w+\s+)?(\w+)/i.exec(sql)?.[1] ?? '';
  return `${VERBS[verb] ?? verb} ${table}`.trim();
}
