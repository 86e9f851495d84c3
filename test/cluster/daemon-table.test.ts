import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readIdentity } from '../../src/cluster/daemon-table.ts';
import type { BlockGap } from '../../src/model/block-gap.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

test('daemons compare the blocks that lack logs like those that lack traces', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 0);
  const gap = (kind: BlockGap['kind'], first: number, last: number, reason = 'lost'): BlockGap => {
    return { kind, first, last, reason };
  };
  const gaps = [gap('log', 2, 2), gap('trace', 4, 6), gap('log', 6, 8), gap('log', 9, 9, 'wrong')];
  writer.append([
    { ...toBatch(randomBlocks(0, 20, `0x${'00'.repeat(32)}`, 3)), gaps: [...gaps, gap('trace', 15, 15)] },
  ]);
  const db = openIndexForReading(path);
  t.after(() => db.close());
  assert.deepEqual(readIdentity(db)?.untraced, [
    { first: 2, last: 2 },
    { first: 4, last: 9 },
    { first: 15, last: 15 },
  ]);
});
