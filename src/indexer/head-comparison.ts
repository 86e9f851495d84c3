/**
 * Whether the node's WebSocket announces the chain that it has over HTTP. Compared is the parent of an announced block:
 * chains that announce another hash than the block's name the right parent.
 */
import { pause } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledNumber } from '../lib/hex.ts';
import { isObject } from '../lib/text.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchHeader } from '../node/methods.ts';

/** Milliseconds to wait before fetching the block over HTTP, which may serve it later or replace it in a reorg. */
const SETTLE_MS = 2_000;
/** Interval of comparisons once one has agreed, milliseconds: the node may be replaced. */
const REPEAT_MS = 60_000;
/** Blocks in a row that must differ. */
const MIN_DIFFERING = 3;

/** A block that differs, with its hash on both ways. */
export interface DifferingBlock {
  block: number;
  node_ws: string;
  node_http: string;
}

export class HeadComparison {
  private readonly client: RpcClient;
  private readonly onOther: (found: DifferingBlock) => void;
  private readonly settleMs: number;
  private differing = 0;
  private isComparing = false;
  private nextAt = 0;

  constructor(client: RpcClient, onOther: (found: DifferingBlock) => void, settleMs = SETTLE_MS) {
    this.client = client;
    this.onOther = onOther;
    this.settleMs = settleMs;
  }

  /** Compares an announced head, unless it is too soon. */
  readonly compare = async (head: unknown, signal: AbortSignal): Promise<void> => {
    if (this.isComparing || performance.now() < this.nextAt || !isObject(head)) return;
    const { parentHash } = head;
    const block = spelledNumber(head['number']) - 1;
    if (!(block >= 0) || typeof parentHash !== 'string') return;
    this.isComparing = true;
    try {
      await pause(this.settleMs, signal);
      if (signal.aborted) return;
      const found = await fetchHeader(this.client, block, signal);
      if (found === null) return; // node_http is behind
      if (isSameHex(parentHash, found.hash)) {
        this.differing = 0;
        this.nextAt = performance.now() + REPEAT_MS;
      } else if (++this.differing >= MIN_DIFFERING) {
        this.onOther({ block, node_ws: parentHash, node_http: found.hash });
      }
    } catch (error) {
      if (!(error instanceof UpstreamError) && !signal.aborted) throw error;
    } finally {
      this.isComparing = false;
    }
  };
}
