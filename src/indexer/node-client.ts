/** A node client that records its calls for the next report. */

import type { UpstreamFailure } from '../lib/errors.ts';
import { RpcClient, type RpcClientOptions } from '../node/client.ts';
import type { NodeClientOptions, UpstreamCall } from './protocol.ts';

/** Most calls per report. More are dropped, and the metrics read too low. */
const MAX_CALLS = 5_000;

/**
 * With a third of the backends behind an address broken, a sequence of ten calls would hardly ever pass. With three
 * tries it does in two of three cases.
 */
const TRIES = 3;

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

/** A client that records its calls. `limits` override the configured ones. */
export function newNodeClient(
  { http, tracesHttp = '', ...options }: NodeClientOptions,
  calls: CallRecorder,
  limits: Partial<Pick<RpcClientOptions, 'maxSockets' | 'maxResponseBytes'>> = {},
): RpcClient {
  return new RpcClient({
    url: http,
    tracesUrl: tracesHttp,
    ...options,
    tries: TRIES,
    onCall: calls.record,
    ...limits,
  });
}
