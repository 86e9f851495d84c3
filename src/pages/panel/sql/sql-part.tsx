/** SQL on the index: an editor with the tables beside it, and the answer. */
import { useState } from 'preact/hooks';
import type { SqlAnswer } from '../../../server/admin/sql.ts';
import { Section } from '../../ui/section.tsx';
import { callAdmin, useAction, usePolled } from '../admin-api.ts';
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
  const [query, setQuery] = useState(saved[0]?.query ?? '');
  const [name, setName] = useState('');
  const [answered, setAnswered] = useState<Answered | null>(null);
  const asking = useAction();
  const run = async () => {
    const startedAt = performance.now();
    const given = await asking.run(() => callAdmin('POST', 'sql', { body: { query }, timeoutMs: ANSWER_MS }));
    if (given !== null)
      setAnswered({ answer: given as SqlAnswer, seconds: (performance.now() - startedAt) / 1000 });
  };
  const onKeyDown = (event: KeyboardEvent) => {
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
      {({ tables, functions, running, waiting }) => (
        <div class="sql">
          <div class="sql-main">
            <form
              class="stack"
              onSubmit={(event) => {
                event.preventDefault();
                void run();
              }}
            >
              <label class="field">
                Query
                <textarea
                  class="sql-query"
                  rows={8}
                  spellcheck={false}
                  value={query}
                  onInput={({ currentTarget }) => setQuery(currentTarget.value)}
                  onKeyDown={onKeyDown}
                />
              </label>
              <div class="buttons">
                <button type="submit" class="button main" disabled={asking.isRunning}>
                  {asking.isRunning ? 'Running …' : 'Run'}
                </button>
                <span class="small soft">Ctrl+Enter. {stateText(running, waiting)}</span>
              </div>
            </form>
            {asking.problem !== '' && (
              <p class="notice bad" role="alert">
                {asking.problem}
              </p>
            )}
            {answered !== null && <SqlAnswerView {...answered} />}
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
                  <button type="button" class="quiet" onClick={() => setQuery(one.query)}>
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

function stateText(running: number, waiting: number): string {
  if (running === 0) return '';
  return `${running} running${waiting === 0 ? '' : `, ${waiting} waiting`}.`;
}
