/**
 * Records a file with the current schema for the tests of later versions: the fixture chain, indexed up to a block
 * before its last, as test/fixtures/schema-<version>.db.gz. Run it at a release with a new schema; the file is never
 * changed afterwards.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { startReplayNode } from '../src/bench/replay/node.ts';
import { SCHEMA_VERSION } from '../src/store/index-file.ts';
import { openDatabase } from '../src/store/open-database.ts';
import { startIndexer } from '../test/support/indexer.ts';
import { readOptions } from './options.ts';

const FIXTURES = resolve(import.meta.dirname, '../test/fixtures');
const HEAD = 18;

readOptions('Records an index with the current schema as a fixture for the tests of later versions.', {});
const dir = mkdtempSync(join(tmpdir(), 'atlas-schema-'));
const node = await startReplayNode({ files: [join(FIXTURES, 'schema-chain.jsonl.gz')], head: HEAD });
const indexer = startIndexer({ after: () => undefined }, { http: node.url, dir, index: { startBlock: 1 } });
await indexer.reaches(HEAD);
await indexer.client.stop();
await node.close();

const db = openDatabase(indexer.path);
db.exec('VACUUM');
db.pragma('wal_checkpoint(TRUNCATE)');
db.close();
const file = join(FIXTURES, `schema-${SCHEMA_VERSION}.db.gz`);
writeFileSync(file, gzipSync(readFileSync(indexer.path), { level: 9 }), { flag: 'wx' });
rmSync(dir, { recursive: true });
console.log(`${file} written`);
