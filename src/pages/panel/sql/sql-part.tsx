/** SQL on the index: an editor with the tables beside it, and the answer. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlAnswer } from '../../../server/admin/sql.ts';
import { Section } from '../../ui/section.tsx';
import { type AdminAnswers, callAdmin, useAction, usePolled } from '../admin-api.ts';
import { useDraft } from './draft.ts';
import { useSavedQueries } from './saved-queries.ts';
import { SqlAnswerView } from './sql-answer.tsx';

const POLL_MS = 5_000;
/** Longer than the longest query, and its wait. */
const ANSWER_MS = 120_000;

interface Answered {
  answer: SqlAnswer;
  seconds: number;
}

export function SqlPart() {
  const described = usePolled('sql', POLL_MS);
  const { saved, save, remove } = useSavedQueries();
  const { query, edit, choose, restore } = useDraft(saved);
  const [name, setName] = useState('');
  const [answered, setAnswered] = useState<Answered | null>(null);
  const [isStopped, setStopped] = useState(false);
  const stop = useRef(new AbortController());
  const editor = useRef<HTMLTextAreaElement>(null);
  const asking = useAction();
  // The server ends the query when its client has left.
  useEffect(() => () => stop.current.abort(), []);
  const run = async () => {
    if (asking.isRunning) return;
    const startedAt = performance.now();
    stop.current = new AbortController();
    const { signal } = stop.current;
    setStopped(false);
    const given = await asking.run(() => ask(query, signal));
    setStopped(signal.aborted);
    if (given !== null) setAnswered({ answer: given, seconds: (performance.now() - startedAt) / 1000 });
  };
  // The button, which may have the focus, goes with the query.
  const onStop = () => {
    stop.current.abort();
    editor.current?.focus();
  };
  // It goes with the last draft.
  const onRestore = () => {
    restore?.();
    editor.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && asking.isRunning) onStop();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  };
  return (
    <Section
      id="sql"
      isPage
      title="SQL"
      note="One SELECT on the index, in the dialect of SQLite. Queries only read. Nobody with an API key can run them."
      loaded={described}
    >
      {({ tables, functions, ...state }) => (
        <div class="sql">
          <div class="sql-main">
            <form
              class="stack"
              onKeyDown={onKeyDown}
              onSubmit={(event) => {
                event.preventDefault();
                void run();
              }}
            >
              <label class="field">
                Query
                <textarea
                  ref={editor}
                  class="sql-query"
                  rows={8}
                  spellcheck={false}
                  value={query}
                  onInput={({ currentTarget }) => edit(currentTarget.value)}
                />
              </label>
              <div class="buttons">
                <button type="submit" class="button main" disabled={asking.isRunning}>
                  {asking.isRunning ? 'Running …' : 'Run'}
                </button>
                {asking.isRunning && (
                  <button type="button" class="button" onClick={onStop}>
                    Stop
                  </button>
                )}
                {restore !== null && (
                  <button type="button" class="button" onClick={onRestore}>
                    Restore draft
                  </button>
                )}
                <span class="small soft">
                  {asking.isRunning ? 'Escape stops the query.' : 'Ctrl+Enter runs the query.'}{' '}
                  {stateText(state)}
                </span>
              </div>
            </form>
            {asking.problem !== '' && (
              <p class="notice bad" role="alert">
                {asking.problem}
              </p>
            )}
            {isStopped && (
              <p class="small soft" role="status">
                The query was stopped.
              </p>
            )}
            {answered !== null && !asking.isRunning && !isStopped && asking.problem === '' && (
              <SqlAnswerView {...answered} />
            )}
          </div>
          <aside class="sql-aside" aria-label="Tables and saved queries">
            <h2>Tables</h2>
            {tables.map((table) => (
              <details key={table.name}>
                <summary>
                  <code>{table.name}</code>
                </summary>
                <p class="small soft">{table.description}</p>
                <ul class="sql-columns">
                  {table.columns.map((column) => (
                    <li key={column.name}>
                      <code>{column.name}</code> <span class="soft small">{column.type}</span>
                    </li>
                  ))}
                </ul>
              </details>
            ))}
            <details>
              <summary>Functions</summary>
              <ul class="sql-columns">
                {functions.map(({ signature, description }) => (
                  <li key={signature}>
                    <code>{signature}</code> <span class="soft small">{description}</span>
                  </li>
                ))}
              </ul>
            </details>
            <h2>Saved queries</h2>
            <ul class="sql-columns">
              {saved.map((one) => (
                <li key={one.name} class="sql-saved">
                  <button type="button" class="quiet" onClick={() => choose(one.query)}>
                    {one.name}
                  </button>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Remove ${one.name}`}
                    onClick={() => remove(one.name)}
                  >
                    Remove
                  </button>
                </li>
              ))}
            </ul>
            <form
              class="row-form"
              onSubmit={(event) => {
                event.preventDefault();
                save({ name: name.trim(), query });
                setName('');
              }}
            >
              <label class="field">
                Name
                <input
                  required
                  maxLength={60}
                  value={name}
                  placeholder="of this query"
                  onInput={({ currentTarget }) => setName(currentTarget.value)}
                />
              </label>
              <button type="submit" class="button">
                Save
              </button>
            </form>
          </aside>
        </div>
      )}
    </Section>
  );
}

/** Null for a query that was stopped. */
async function ask(query: string, signal: AbortSignal): Promise<SqlAnswer | null> {
  try {
    const answer = await callAdmin('POST', 'sql', { body: { query }, signal, timeoutMs: ANSWER_MS });
    return answer as SqlAnswer;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

type State = Pick<AdminAnswers['sql'], 'waiting' | 'reading' | 'oldestMs' | 'logBytes' | 'logLimitBytes'>;

/** Of all processes: `atlas-node sql` runs queries too. */
function stateText({ waiting, reading, oldestMs, logBytes, logLimitBytes }: State): string {
  if (reading === 0 && waiting === 0) return '';
  const parts = [
    `${reading} running${oldestMs === null ? '' : `, the oldest for ${Math.round(oldestMs / 1000)} s`}`,
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(logBytes > logLimitBytes
      ? ['the log of the index is full: none begins until the oldest has ended']
      : []),
  ];
  return `${parts.join(', ')}.`;
}
