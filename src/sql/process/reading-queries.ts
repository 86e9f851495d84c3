/**
 * The queries that read an index now, of whatever process: each has an empty file beside the index for as long as it
 * runs. So processes that know nothing of each other agree on which query is the oldest.
 */
import { readdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { QueryReads } from '../../model/query-reads.ts';
import { MAX_LOG_BYTES } from './limits.ts';
import { logBytes } from './usage.ts';

/** One that was not shown for this long has lost its watcher. */
const FORGOTTEN_MS = 15_000;

const INFIX = '-query-';

export function readingQueries(path: string): Pick<QueryReads, 'count' | 'oldestMs'> {
  const starts = namesBeside(path).map(startOf);
  return {
    count: starts.length,
    oldestMs: starts.length === 0 ? null : Math.max(0, Date.now() - Math.min(...starts)),
  };
}

export function queryReads(path: string): QueryReads {
  return { ...readingQueries(path), logBytes: logBytes(path), logLimitBytes: MAX_LOG_BYTES };
}

/** A query that reads. Where its file cannot be written, only this process knows of it. */
export class ReadingQuery {
  private readonly path: string;
  private readonly name: string;

  /** `startedAt`: when it began, Unix milliseconds. */
  constructor(path: string, startedAt = Date.now()) {
    this.path = path;
    const unique = `${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
    this.name = `${basename(path)}${INFIX}${startedAt}-${unique}`;
    attempt(() => writeFileSync(this.file, ''));
  }

  show(): void {
    const now = new Date();
    attempt(() => utimesSync(this.file, now, now));
  }

  /** Whether no other query that reads this index began before. */
  isOldest(): boolean {
    const others = namesBeside(this.path).filter((name) => name !== this.name);
    const own = startOf(this.name);
    return others.every((name) => startOf(name) > own || (startOf(name) === own && name > this.name));
  }

  end(): void {
    attempt(() => unlinkSync(this.file));
  }

  private get file(): string {
    return join(dirname(this.path), this.name);
  }
}

/** The files of the queries of an index. Those that nobody shows any longer are removed. */
function namesBeside(path: string): string[] {
  const folder = dirname(path);
  const start = basename(path) + INFIX;
  const names = (attempt(() => readdirSync(folder)) ?? []).filter((name) => name.startsWith(start));
  return names.filter((name) => {
    const shownAt = attempt(() => statSync(join(folder, name)).mtimeMs);
    if (shownAt === undefined) return false; // it ended meanwhile
    if (Date.now() - shownAt < FORGOTTEN_MS) return true;
    attempt(() => unlinkSync(join(folder, name)));
    return false;
  });
}

/** Unix milliseconds. */
function startOf(name: string): number {
  return Number(name.slice(name.lastIndexOf(INFIX) + INFIX.length).split('-')[0]);
}

/** Undefined where the system refuses: a folder may be read-only, a file gone. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
