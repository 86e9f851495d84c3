/** A client of `/ws/signals` that reconnects and resumes as described in docs/streams.md. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamClient } from '../../streams/client.ts';

export interface Signal {
  txHash: string;
  eventIndex: number;
  event: string;
  wallet: string;
  blockNumber: number;
}

/** All signals from a block on. */
export class ResumingStream {
  readonly events: Signal[] = [];
  connections = 0;
  isOpen = false;
  private readonly url: string;
  private readonly key: string;
  private readonly fromBlock: number;
  private readonly seen = new Set<string>();
  private readonly closers: (() => void | Promise<void>)[] = [];
  private isStopped = false;

  constructor(url: string, key: string, fromBlock: number) {
    this.url = url;
    this.key = key;
    this.fromBlock = fromBlock;
    void this.run();
  }

  stop(): void {
    this.isStopped = true;
    for (const close of this.closers) void close();
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      try {
        const after = (close: () => void | Promise<void>) => void this.closers.push(close);
        const client = await StreamClient.open({ after }, this.url, this.key, '/ws/signals');
        this.connections++;
        const { results } = await client.signals<Signal>({
          fromBlock: this.events.at(-1)?.blockNumber ?? this.fromBlock,
        });
        this.isOpen = true;
        for (let taken = 0; client.socket.readyState === client.socket.OPEN || taken < results.length; ) {
          for (; taken < results.length; taken++) this.take(results[taken]);
          await sleep(5);
        }
      } catch {
        // the daemon is down: retry
      }
      await sleep(50);
    }
  }

  private take(signal: Signal | undefined): void {
    if (signal === undefined || this.seen.has(keyOf(signal))) return;
    this.seen.add(keyOf(signal));
    this.events.push(signal);
  }
}

export function keyOf({ txHash, eventIndex, event, wallet }: Signal): string {
  return `${txHash} ${eventIndex} ${event} ${wallet}`;
}
