/** Migrations of a process that is killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { migrate } from '../../src/store/migrations/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import {
  counted,
  countingMigration,
  countingTable,
  ROWS,
  versionOf,
} from '../support/index/slow-migration.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a process killed at any moment of a migration leaves a file that the next one finishes', async (t) => {
  const path = join(tempDir(t), 'counting.db');
  const db = openDatabase(path);
  countingTable(db);
  db.close();
  const script = join(import.meta.dirname, '../support/index/slow-migration.ts');
  for (let kill = 1; kill <= 5; kill++) {
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    for (let line = 0; line < kill * 3; line++) await once(lines, 'line');
    child.kill('SIGKILL');
    await ended;
  }
  assert.equal(versionOf(path), 0, 'killed before the end');
  const [waiting, done] = counted(path) as { touched: number; rows: number }[];
  assert.deepEqual([waiting?.touched, done?.touched], [0, 1], 'killed after the first step');
  const rest = openDatabase(path);
  for (const _ of migrate(rest, [countingMigration(2)]));
  rest.close();
  assert.deepEqual(counted(path), [{ touched: 1, rows: ROWS }]);
});
