/** What the writer thread works with, from opening the index to closing it. */
import type { IndexWriter } from '../store/index-writer.ts';
import type { RpcClient } from '../upstream/client.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { CheckpointClient } from './checkpoint-client.ts';
import type { Progress } from './progress.ts';
import type { Send } from './protocol.ts';
import type { WriterLog } from './writer-log.ts';

export interface IndexerContext {
  store: IndexWriter;
  checkpoints: CheckpointClient;
  progress: Progress;
  client: RpcClient;
  calls: CallRecorder;
  send: Send;
  log: WriterLog;
}
