/** Repairs killed with SIGKILL, and their results. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../../src/store/open-database.ts';
import { SOURCE_FLAGS } from '../daemon/command.ts';

const PROCESS = join(import.meta.dirname, 'repair-process.ts');

/** The repair of a range, in its own process. */
interface RepairRun {
  path: string;
  url: string;
  from: number;
  to: number;
}

/** When to kill it: at one of its steps, or this many milliseconds after the first. */
export type KillPoint = { step: number } | { afterMs: number };

interface RepairEnd {
  killed: boolean;
  /** What it printed, one line for each step. */
  steps: string[];
}

export async function repairProcess(
  { path, url, from, to }: RepairRun,
  kill?: KillPoint,
): Promise<RepairEnd> {
  const args = [...SOURCE_FLAGS, PROCESS, path, url, String(from), String(to)];
  if (kill !== undefined && 'step' in kill) args.push(String(kill.step));
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  if (kill !== undefined && 'afterMs' in kill) {
    await Promise.race([once(child.stdout, 'data'), ended]);
    await sleep(kill.afterMs);
    child.kill('SIGKILL');
  }
  const [code, signal] = await ended;
  if (signal !== 'SIGKILL') assert.equal(code, 0, `the repair failed after: ${text}`);
  return { killed: signal === 'SIGKILL', steps: text.split('\n').filter(Boolean) };
}

/** Checks that a killed repair's file is intact: SQLite finds no fault, and its blocks have no gap. */
export function assertWhole(path: string): void {
  const db = openDatabase(path);
  try {
    assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
    const { blocks, span, last } = db
      .prepare<[], { blocks: number; span: number; last: number }>(
        'SELECT count(*) AS blocks, ifnull(max(number) - min(number) + 1, 0) AS span, ' +
          'ifnull(max(last_transfer), 0) AS last FROM blocks',
      )
      .get()!;
    assert.equal(blocks, span, 'no block is missing');
    assert.equal(
      db.prepare('SELECT count(*) FROM transfers').pluck().get(),
      last,
      'no transfer is missing or left over',
    );
  } finally {
    db.close();
  }
}
