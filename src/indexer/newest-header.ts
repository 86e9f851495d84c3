/** Whether the node's newest header hashes to its own hash. Where it does not, checks of blocks prove nothing. */

import { UpstreamError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import { headerCall, readBlock } from '../node/methods.ts';
import { isProvenHeader, unprovenReason } from './header-hash.ts';
import type { IndexerContext } from './indexer-context.ts';

type HeaderContext = Pick<IndexerContext, 'client' | 'progress' | 'log'>;

const advice = () =>
  'if the chain has forked, update atlas-node; until then, blocks without transactions are trusted and ' +
  `${settingName('index.check_roots')} proves nothing`;

/** Reads the newest header and reports in log and status when it is not proven. Rejects with UpstreamError. */
export async function checkNewestHeader(
  { client, progress, log }: HeaderContext,
  signal: AbortSignal,
): Promise<void> {
  const { method, params } = headerCall('latest');
  const result = await client.call(method, params, signal);
  if (result === null) return;
  const header = readBlock(result, method);
  const reason = (await isProvenHeader(header))
    ? null
    : `the newest header does not hash to its own hash: ${unprovenReason(header)}`;
  const before = progress.setUnprovenHeaders(reason);
  if (reason !== null && reason !== before)
    log.warn(
      { reason, block: header.number, advice: advice() },
      'the headers of this chain are not verified',
    );
}

/** Interval of the check, milliseconds: a fork becomes active while the daemon runs. */
const POLL_MS = 600_000;

export class NewestHeaderWatch {
  private readonly context: HeaderContext;
  private readonly signal: AbortSignal;
  private nextCheckAt = performance.now() + POLL_MS;

  constructor(context: HeaderContext, signal: AbortSignal) {
    this.context = context;
    this.signal = signal;
  }

  /** Checks the newest header if it is due. Runs in the background, so that a slow node does not delay indexing. */
  pollIfDue(): void {
    if (performance.now() < this.nextCheckAt || this.signal.aborted) return;
    this.nextCheckAt = performance.now() + POLL_MS;
    checkNewestHeader(this.context, this.signal).catch((error: unknown) => {
      if (!this.signal.aborted && !(error instanceof UpstreamError)) throw error; // the next one is soon enough
    });
  }
}
