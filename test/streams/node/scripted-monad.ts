/** A scripted Monad node: blocks with two logs each, announced on demand as Monad's node announces them. */
import type { Cleanup } from '../../support/cleanup.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import {
  type MisbehavingNode,
  NodeError,
  startMisbehavingNode,
} from '../../support/nodes/misbehaving-node.ts';
import { StreamClient } from '../client.ts';

export const ADDRESS = `0x${'ab'.repeat(20)}`;
export const TOPIC = `0x${'cd'.repeat(32)}`;

export interface ChainLog {
  blockNumber: string;
  logIndex: string;
  commitState?: string;
}

/** A chain of blocks with two logs each, as Monad's node announces it. */
export class ScriptedMonad {
  head = 100;
  /** Higher blocks are those of another branch. */
  fork = Number.POSITIVE_INFINITY;
  node: MisbehavingNode;

  private constructor(node: MisbehavingNode) {
    this.node = node;
  }

  static async start(owner: Cleanup): Promise<ScriptedMonad> {
    let monad: ScriptedMonad | undefined;
    const node = await startMisbehavingNode({ answer: (method, params) => monad?.answer(method, params) });
    owner.after(() => node.close());
    monad = new ScriptedMonad(node);
    return monad;
  }

  /** Creates a block and announces its head and, as each state is reached, its logs. */
  propose(states: readonly string[] = ['Proposed']): void {
    this.head++;
    this.node.publish('newHeads', header(this.head, this.hashOf));
    for (const state of states) this.announce(this.head, state);
  }

  /** Number of eth_getLogs calls. */
  get logsAsked(): number {
    return this.node.requests.flatMap(({ calls }) => calls).filter(({ method }) => method === 'eth_getLogs')
      .length;
  }

  /** Creates a block without announcing it. */
  proposeUnannounced(): void {
    this.head++;
  }

  announce(number: number, commitState: string, indices: readonly number[] = [0, 1]): void {
    for (const index of indices) {
      this.node.publish('monadLogs', {
        blockId: hash('1d', number),
        commitState,
        ...log(number, index, this.hashOf),
      });
    }
  }

  readonly hashOf = (number: number): string => hash(number > this.fork ? 'b1' : 'b0', number);

  private answer(method: string, [first]: unknown[]): unknown {
    switch (method) {
      case 'web3_clientVersion':
        return 'Monad/0.16.0';
      case 'eth_chainId':
        return '0x8f';
      case 'eth_blockNumber':
        return quantity(this.head);
      case 'eth_getBlockByNumber': {
        const number = typeof first === 'string' && first.startsWith('0x') ? Number(first) : this.head;
        return number <= this.head ? { ...header(number, this.hashOf), transactions: [], size: '0x1' } : null;
      }
      case 'eth_getBlockReceipts':
        return [];
      case 'eth_getLogs': {
        const { blockHash } = first as { blockHash: string };
        const number = Number.parseInt(blockHash.slice(4, 20), 16);
        return [0, 1].map((index) => log(number, index, () => blockHash));
      }
      default:
        throw new NodeError(-32601, 'Method not found');
    }
  }
}

const firstBranch = (number: number): string => hash('b0', number);

export function header(number: number, hashOf = firstBranch) {
  return {
    number: quantity(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: quantity(1_700_000_000 + number),
    logsBloom: `0x${'01'.repeat(256)}`,
  };
}

export function log(number: number, index: number, hashOf = firstBranch) {
  return {
    address: ADDRESS,
    topics: [TOPIC],
    data: '0x',
    blockNumber: quantity(number),
    blockHash: hashOf(number),
    logIndex: quantity(index),
    removed: false,
  };
}

export function hash(kind: string, number: number): string {
  return `0x${kind}${number.toString(16).padStart(16, '0')}${'0'.repeat(46)}`;
}

export function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}

/** A daemon beside the node, and a client of it. */
export async function serveMonad(t: Cleanup, env: Record<string, string> = {}) {
  const monad = await ScriptedMonad.start(t);
  const served = await startTestDaemon(t, {
    flags: { '--node-http': monad.node.url, '--node-ws': monad.node.wsUrl, '--start-block': 'latest' },
    env: { ATLAS_INDEX__TRACES: 'false', ...env },
  });
  return { monad, client: await StreamClient.open(t, served.url, served.key) };
}
