/** State shared by all code of the indexer thread while the index is open. */

import type { ThreadLog } from '../log/logger.ts';
import type { RpcClient } from '../node/client.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import type { CheckpointClient } from './checkpoint-client.ts';
import type { CallRecorder } from './node-client.ts';
import type { Progress } from './progress.ts';
import type { Send } from './protocol.ts';

export interface IndexerContext {
  store: IndexWriter;
  checkpoints: CheckpointClient;
  progress: Progress;
  client: RpcClient;
  calls: CallRecorder;
  send: Send;
  log: ThreadLog;
  /**
   * A commit blocks the event loop for up to minutes and calls this several times a second. Sends a report when it is due.
   * Throws CommitAbandoned when the thread must stop.
   */
  onCommitStep(): void;
}

/** The log of the indexer thread. `send` passes its lines to the serving thread. */
export function indexerLog(send: Send): ThreadLog {
  const lineOf =
    (level: keyof ThreadLog): ThreadLog['info'] =>
    (fields, msg) =>
      send({ kind: 'log', level, msg, fields });
  return { info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };
}
