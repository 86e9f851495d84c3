/**
 * A node that refuses to trace any block, such as one behind a proxy that forbids it in words of its own. Only a
 * refusal that lasts is believed, and never where blocks of the index were traced: those to come would lack what these
 * have.
 */

import { UpstreamError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { IndexWriter } from '../store/index-writer.ts';

/** How long the node must refuse, milliseconds. */
const CONFIRM_MS = 30_000;

/** The refusal may pass. */
export class TracingRefusedError extends UpstreamError {
  override name = 'TracingRefusedError';
}

/** Words that count once they have been said for long enough. */
export class LastingWords {
  readonly confirmMs: number;
  private readonly now: () => number;
  private words = '';
  private since = 0;

  constructor(confirmMs = CONFIRM_MS, now = () => performance.now()) {
    this.confirmMs = confirmMs;
    this.now = now;
  }

  /** Hears them again. Returns whether nothing else was said meanwhile, for long enough. */
  hear(words: string): boolean {
    const now = this.now();
    if (words !== this.words) Object.assign(this, { words, since: now });
    return now - this.since >= this.confirmMs;
  }
}

export class TracingRefusal {
  private readonly store: Pick<IndexWriter, 'head' | 'chain' | 'gaps'>;
  private readonly lasting: LastingWords;

  constructor(store: TracingRefusal['store'], confirmMs = CONFIRM_MS, now = () => performance.now()) {
    this.store = store;
    this.lasting = new LastingWords(confirmMs, now);
  }

  /** Throws TracingRefusedError while the refusal may pass. */
  settle(words: string): void {
    const isLasting = this.lasting.hear(words);
    const refused = `the node refuses to trace any block ("${words}")`;
    const setting = `${settingName('index.traces')} = false`;
    if (this.hasTracedBlocks())
      throw new TracingRefusedError(
        'rpc',
        `${refused}, although it traced others before; to index the next ones without internal transfers, ` +
          `set ${setting}`,
      );
    if (isLasting) return;
    const seconds = Math.ceil(this.lasting.confirmMs / 1000);
    throw new TracingRefusedError(
      'rpc',
      `${refused}; if it does so for ${seconds} s, or with ${setting}, they are indexed without internal transfers`,
    );
  }

  private hasTracedBlocks(): boolean {
    const { store } = this;
    const head = store.head();
    const chain = store.chain();
    if (head === null || chain === null) return false;
    return store.gaps('trace')?.blocks !== head.number - chain.startBlock + 1;
  }
}
