/**
 * Prints a contract's events with viem, and takes back those that a reorg removes. The socket only tells of a new head:
 * which blocks are new follows from parent hashes, so a broken connection or a reorg loses nothing.
 *
 *   node_modules/.bin/node scripts/examples/contract-events.ts http://127.0.0.1:8650 KEY CONTRACT \
 *     'event Transfer(address indexed from, address indexed to, uint256 value)'
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, getAddress, type Hash, http, parseAbi, stringify, webSocket } from 'viem';

const [url, key, contract, ...events] = process.argv.slice(2);
if (url === undefined || key === undefined || contract === undefined || events.length === 0)
  throw new Error("usage: contract-events.ts URL KEY CONTRACT 'event ...'...");
const address = getAddress(contract);
const abi = parseAbi(events);

const transport = http(`${url}/rpc`, { batch: true, fetchOptions: { headers: { 'X-API-Key': key } } });
const client = createPublicClient({ transport });
const socket = webSocket(`${url.replace('http', 'ws')}/ws?api_key=${key}`, {
  reconnect: { attempts: Infinity },
});

/** The newest blocks that were read, oldest first, each linked to the one before. */
const read: { number: bigint; hash: Hash; lines: string[] }[] = [];

async function follow(): Promise<void> {
  let block = await client.getBlock();
  if (read.some(({ hash }) => hash === block.hash)) return;
  const fresh = [block];
  while (read.length > 0 && read.every(({ hash }) => hash !== block.parentHash)) {
    if (block.number <= (read[0]?.number ?? 0n)) throw new Error('a reorg replaced all remembered blocks');
    block = await client.getBlock({ blockHash: block.parentHash });
    fresh.unshift(block);
  }
  const logs = await Promise.all(
    fresh.map(({ hash }) => client.getContractEvents({ address, abi, blockHash: hash })),
  );
  while (read.length > 0 && read.at(-1)?.hash !== block.parentHash)
    for (const line of read.pop()?.lines.reverse() ?? []) console.log(`removed ${line}`);
  for (const [i, { number, hash }] of fresh.entries()) {
    const lines = (logs[i] ?? []).map(
      (log) => `${log.transactionHash} ${log.logIndex} ${log.eventName} ${stringify(log.args)}`,
    );
    for (const line of lines) console.log(line);
    read.push({ number, hash, lines });
  }
  read.splice(0, read.length - 1_000); // more than a reorg replaces
}

let head = Promise.withResolvers<void>();
createPublicClient({ transport: socket }).watchBlockNumber({
  onBlockNumber: () => head.resolve(),
  onError() {},
});
for (;;) {
  head = Promise.withResolvers();
  await follow().catch((error: Error) => console.error(error.message));
  await Promise.race([head.promise, sleep(5_000)]); // without the socket: every 5 s
}
