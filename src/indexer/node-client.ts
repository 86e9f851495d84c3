/** Calls to the node, collected between two reports. */

import type { UpstreamFailure } from '../lib/errors.ts';
import { RpcClient, type RpcClientOptions } from '../node/client.ts';
import type { IndexerThreadOptions, UpstreamCall } from './protocol.ts';

/** Most calls kept per report. Further ones are not counted, so the call metrics are then too low. */
const MAX_CALLS = 5_000;

export class CallRecorder {
  private calls: UpstreamCall[] = [];

  readonly record = (method: string, seconds: number, failure: UpstreamFailure | null): void => {
    if (this.calls.length < MAX_CALLS) this.calls.push({ method, seconds, failure });
  };

  add(calls: readonly UpstreamCall[]): void {
    for (const call of calls) this.record(call.method, call.seconds, call.failure);
  }

  drain(): UpstreamCall[] {
    const drained = this.calls;
    this.calls = [];
    return drained;
  }
}

/** A client whose calls are recorded; `limits` apply in the place of the configured ones. */
export function newNodeClient(
  { http, timeoutMs, maxSockets, maxBatch }: IndexerThreadOptions['node'],
  calls: CallRecorder,
  limits: Partial<Pick<RpcClientOptions, 'maxSockets' | 'maxResponseBytes'>> = {},
): RpcClient {
  return new RpcClient({ url: http, timeoutMs, maxSockets, maxBatch, onCall: calls.record, ...limits });
}
