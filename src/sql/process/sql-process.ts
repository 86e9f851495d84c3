/** A process that runs queries one after the other, until the one that started it disconnects or ends it. */

import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { messageOf } from '../../lib/errors.ts';
import { QueryRefusal } from '../query-refusal.ts';
import { SqlSession } from '../session.ts';
import type { FromProcess, QueriedIndex, SentQuery } from './protocol.ts';

/** The daemon and everything else go first. */
const NICENESS = 10;

export function serveQueries(): void {
  yieldToOthers();
  process.on('disconnect', () => process.exit());
  process.once('message', serveIndex);
}

function serveIndex({ path, tradeLists }: QueriedIndex): void {
  const send = (message: FromProcess) => void process.send?.(message);
  let session: SqlSession;
  try {
    session = new SqlSession(path, tradeLists);
  } catch (error) {
    send({ failed: messageOf(error) });
    return process.disconnect();
  }
  process.on('message', ({ text, limits, parameters, wantsPlan }: SentQuery) => {
    try {
      send({ answer: session.run(text, limits, parameters, wantsPlan ? send : undefined) });
    } catch (error) {
      send(error instanceof QueryRefusal ? { refused: error.message } : { failed: messageOf(error) });
    }
  });
  send({ ready: true });
}

/** Where memory runs out, the system ends this process before the daemon. */
function yieldToOthers(): void {
  try {
    setPriority(NICENESS);
    writeFileSync('/proc/self/oom_score_adj', '1000');
    // Linux may give each session a share of its own, in which the priority of its only process means nothing.
    writeFileSync('/proc/self/autogroup', String(NICENESS));
  } catch {
    // a system without these keeps its defaults
  }
}
