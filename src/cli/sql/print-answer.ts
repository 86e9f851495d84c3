/** Runs a query and prints its answer. */

import { MAX_ANSWER_BYTES } from '../../sql/process/limits.ts';
import type { QueryProcess } from '../../sql/process/query-process.ts';
import { QueryLimitError } from '../../sql/query-refusal.ts';
import { type AnswerFormat, answerNote, answerText } from './answer-text.ts';

export interface AnswerOptions {
  format: AnswerFormat;
  /** Most rows. */
  limit: number;
  /** Seconds. */
  timeout: number;
}

/** Names the option that gives a query more time, which only the command line has. */
function rethrowWithOption(error: unknown): never {
  if (error instanceof QueryLimitError && error.isTimeout)
    throw new QueryLimitError(`${error.message}, or raise --timeout`, true);
  throw error;
}

/** Throws what QueryProcess throws. */
export async function printAnswer(
  queries: Pick<QueryProcess, 'run'>,
  query: string,
  { format, limit, timeout }: AnswerOptions,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const answer = await queries
    .run(
      { text: query, limits: { rows: limit, bytes: MAX_ANSWER_BYTES } },
      {
        timeoutMs: timeout * 1000,
        signal,
        onPlan({ notes }) {
          for (const note of notes) console.error(note);
        },
      },
    )
    .catch(rethrowWithOption);
  const lines = answerText(answer, format);
  const note = answerNote(answer, (performance.now() - startedAt) / 1000);
  if (format === 'table') console.log(`${lines}\n\n${note}`);
  else {
    console.log(lines);
    console.error(note);
  }
}
