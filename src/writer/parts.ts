/** What the writer thread works with, from opening the index to closing it. */
import type { IndexWriter } from '../store/index-writer.ts';
import type { RpcClient } from '../upstream/client.ts';
import type { CallRecorder } from './calls.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Progress } from './progress.ts';
import type { Send } from './protocol.ts';

export interface Parts {
  store: IndexWriter;
  checkpoints: Checkpoints;
  progress: Progress;
  client: RpcClient;
  calls: CallRecorder;
  send: Send;
}
