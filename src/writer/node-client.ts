/** The writer's clients of the node. */
import { RpcClient, type RpcClientOptions } from '../upstream/client.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { WriterOptions } from './protocol.ts';

/** A client whose calls are recorded; `limits` apply in the place of the configured ones. */
export function newNodeClient(
  { http, timeoutMs, maxSockets, maxBatch }: WriterOptions['node'],
  calls: CallRecorder,
  limits: Partial<Pick<RpcClientOptions, 'maxSockets' | 'maxResponseBytes'>> = {},
): RpcClient {
  return new RpcClient({ url: http, timeoutMs, maxSockets, maxBatch, onCall: calls.record, ...limits });
}
