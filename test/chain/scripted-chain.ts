/** A tracker of a scripted node, and what it reports. */
import assert from 'node:assert/strict';
import { type ChainListener, ChainTracker } from '../../src/chain/tracker.ts';
import type { Logger } from '../../src/log/logger.ts';
import { RpcClient } from '../../src/node/client.ts';
import { NodeConnection } from '../../src/node/connection.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { type Faults, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

const POLL_MS = 5;
export const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A chain written as branches: `12a` is block 12 of branch a. */
export class Script {
  /** Branch of each block, by number from 0 on. */
  branches: string[];
  /** Holds completed answers back until this resolves. */
  held: Promise<void> | null = null;

  constructor(length: number) {
    this.branches = Array(length).fill('a');
  }

  get head(): number {
    return this.branches.length - 1;
  }

  block(number: number): object | null {
    if (number > this.head) return null;
    const hash = (at: number) => `0x${hex(at)}${hex(this.branches[at]?.charCodeAt(0) ?? 0)}${'0'.repeat(32)}`;
    return {
      number: `0x${number.toString(16)}`,
      hash: hash(number),
      parentHash: number === 0 ? `0x${'f'.repeat(64)}` : hash(number - 1),
      timestamp: '0x1',
    };
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(16, '0');
}

export async function follow(
  owner: Cleanup,
  script: Script,
  { log = SILENT, ws = false, faults = {} }: { log?: Logger; ws?: boolean; faults?: Partial<Faults> } = {},
) {
  const node = await startMisbehavingNode({
    answer: (_method, [id]) => {
      const block = script.block(id === 'latest' ? script.head : Number(id));
      return script.held?.then(() => block) ?? block;
    },
  });
  owner.after(() => node.close());
  node.misbehave(faults);
  const client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 4, maxBatch: 60 });
  const connection = new NodeConnection({ wsUrl: ws ? node.wsUrl : '', client, log: SILENT });
  owner.after(() => connection.close());
  const chain = new ChainTracker({ node: connection, pollMs: POLL_MS, maxReorg: 128, log });
  owner.after(() => chain.close());
  const events: string[] = [];
  const name = (block: { number: number; hash: string }) =>
    `${block.number}${String.fromCharCode(Number.parseInt(block.hash.slice(18, 34), 16))}`;
  const listener: ChainListener = {
    onBlockAdded: (block) => events.push(`+${name(block)}`),
    onBlocksRemoved: (blocks) => events.push(...blocks.map((block) => `-${name(block)}`)),
    onDeepReorg: () => events.push('deep reorg'),
  };
  chain.addListener(listener);
  const release = await chain.acquire();
  return { node, connection, chain, events, release };
}

export const expectEvents = (events: string[], text: string) =>
  waitFor(() => events.join(' ') === text, {
    what: `"${text}"; got "${events.join(' ')}"`,
    everyMs: 5,
  }).catch(() => assert.equal(events.join(' '), text));
