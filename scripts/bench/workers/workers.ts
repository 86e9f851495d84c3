/** A worker process of the benchmark, by name. */
import type { Actions } from '../process/protocol.ts';
import { serveWorker } from '../process/serve-worker.ts';
import { answersActions } from './answers.ts';
import { bareActions } from './bare.ts';
import { chainNodeActions } from './chain-node.ts';
import { growthActions } from './growth.ts';
import { httpLoadActions } from './http-load.ts';
import { replayClientActions } from './replay-client.ts';
import { wsClientsActions } from './ws-clients.ts';

const WORKERS = {
  'chain-node': chainNodeActions,
  bare: bareActions,
  'http-load': httpLoadActions,
  'ws-clients': wsClientsActions,
  'replay-client': replayClientActions,
  growth: growthActions,
  answers: answersActions,
} satisfies Record<string, () => Actions>;

export type WorkerName = keyof typeof WORKERS;

/** What each worker can be asked to do. */
export type WorkerActions = { [N in WorkerName]: ReturnType<(typeof WORKERS)[N]> };

const [, , name] = process.argv;
const makeActions = Object.entries(WORKERS).find(([worker]) => worker === name)?.[1];
if (makeActions === undefined || process.send === undefined)
  throw new Error('the benchmark starts this file; use "npm run bench"');
serveWorker(makeActions());
