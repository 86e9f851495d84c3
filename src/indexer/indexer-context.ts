/** State shared by all code of the indexer thread while the index is open. */

import type { ThreadLog } from '../log/logger.ts';
import type { RpcClient } from '../node/client.ts';
import type { CheckpointClient } from '../store/checkpoint-client.ts';
import type { IndexWriter } from '../store/index-writer.ts';
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
   * A commit blocks the event loop for up to minutes and calls this several times a second. Sends a report when it is
   * due. Throws CommitAbandoned when the thread must stop.
   */
  onCommitStep(): void;
}
