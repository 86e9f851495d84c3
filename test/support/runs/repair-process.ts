/**
 * A repair in its own process, to be killed: `repair-process.ts INDEX NODE FROM TO [KILL]`. It prints each step and
 * kills itself at step KILL, counted from 1.
 */
import { writeSync } from 'node:fs';
import { finalityOf } from '../../../src/model/finality.ts';
import { probeCapabilities } from '../../../src/node/capabilities.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { repairRange } from '../../../src/verify/repair.ts';

const [path = '', url = '', from, to, kill] = process.argv.slice(2);
const client = new RpcClient({ url, timeoutMs: 60_000, maxSockets: 8, maxBatch: 50 });
let step = 0;
const capabilities = await probeCapabilities(client, { traces: true, head: 'latest', finality: 'auto' });
const { replacedFrom } = await repairRange({
  path,
  client,
  capabilities,
  finality: finalityOf('auto', capabilities),
  configured: {},
  configuredTrades: {},
  maxReorg: 128,
  range: { first: Number(from), last: Number(to) },
  cacheMb: 8,
  batchTransfers: 100, // many commits, so that there is something between them
  signal: new AbortController().signal,
  onProgress(text) {
    writeSync(1, `${text}\n`);
    if (++step === Number(kill)) process.kill(process.pid, 'SIGKILL');
  },
});
await client.close();
writeSync(1, replacedFrom === null ? 'nothing to repair\n' : `repaired from ${replacedFrom}\n`);
