/** What long answers take of the gateway's memory. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Program } from './rpc-programs.ts';

const ANSWER = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(12_500_000)}"}`);
const NOT_NOW = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"only eth_call"}}';
const AT_ONCE = 6;
const ROUNDS = 5;

/** `growth` is by how many bytes the resident memory of the gateway exceeded at most what it was before. */
export async function growthByLongAnswers(
  startGateway: (node: string) => Promise<Program & { key: string }>,
): Promise<{ bytes: number; atOnce: number; growth: number }> {
  const node = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.end(body.includes('"eth_call"') ? ANSWER : NOT_NOW);
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  const gateway = await startGateway(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
  try {
    await readAnswer(gateway, 'warm');
    const before = memoryOf(gateway, 'VmRSS');
    writeFileSync(`/proc/${gateway.pids[0]}/clear_refs`, '5'); // the peak counts from now on
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => readAnswer(gateway, `${round} ${i}`)));
    }
    const growth = memoryOf(gateway, 'VmHWM') - before;
    return { bytes: ANSWER.length, atOnce: AT_ONCE, growth };
  } finally {
    await gateway.stop();
    node.closeAllConnections();
    node.close();
  }
}

/** Reads one answer piece by piece, as its client does. */
async function readAnswer({ url, key }: Program & { key: string }, what: string): Promise<void> {
  const body = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["${what}","latest"]}`;
  const response = await fetch(url, { method: 'POST', body, headers: { 'X-API-Key': key } });
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  if (bytes !== ANSWER.length) throw new Error(`${bytes} of ${ANSWER.length} bytes came`);
}

/** Bytes of the process, by a line of its status. */
function memoryOf({ pids }: Program, name: 'VmRSS' | 'VmHWM'): number {
  const line = readFileSync(`/proc/${pids[0]}/status`, 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  return Number(/\d+/.exec(line ?? '')?.[0]) * 1024;
}
