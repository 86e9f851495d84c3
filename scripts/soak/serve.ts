/** Serves an index until SIGTERM; sends the parent process its address. Arguments: the data folder, the node's URL. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyStore } from '../../src/access/keys.ts';
import { parseConfig } from '../../src/config.ts';
import { startDaemon } from '../../src/daemon.ts';
import { createLogger } from '../../src/log.ts';
import type { ReadyMessage } from './daemon.ts';

const [dir = '', nodeUrl = ''] = process.argv.slice(2);
mkdirSync(dir, { recursive: true });
const { config } = parseConfig({
  env: { ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '100000' },
  flags: {
    '--data-dir': dir,
    '--port': '0',
    '--node-http': nodeUrl,
    '--node-ws': nodeUrl.replace('http', 'ws'),
  },
});
const keys = openKeyStore(join(dir, 'keys.db'));
const { key } = keys.create({ name: 'soak', tier: 'unlimited' });
keys.close();
const daemon = await startDaemon(config, { log: createLogger({ level: 'error', format: 'pretty' }) });
process.on('SIGTERM', () => void daemon.close().then(() => process.exit(0)));
process.send?.({ port: Number(new URL(daemon.url).port), key } satisfies ReadyMessage);
