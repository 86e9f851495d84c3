import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAccess } from '../../src/access/access.ts';
import { warnAboutKeys } from '../../src/daemon/data-stores.ts';
import { createLogger } from '../../src/log/logger.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a keys file without a valid key is reported with the command that creates one', (t) => {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'keys.db'), '');
  const access = openAccess(join(dir, 'keys.db'), {});
  t.after(() => access.close());
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', format: 'json', write: (line) => lines.push(line) });
  warnAboutKeys(access, dir, log);
  assert.match(lines.join(), /there is no valid key.*keys create --name app --tier growth --data-dir/);
  const { record } = access.keys.create({ name: 'first', tier: 'free' });
  lines.length = 0;
  warnAboutKeys(access, dir, log);
  assert.doesNotMatch(lines.join(), /there is no valid key/);
  access.keys.revoke(record.id);
  warnAboutKeys(access, dir, log);
  assert.match(lines.join(), /there is no valid key/);
});
