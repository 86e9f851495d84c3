/** A section of a page: its title, its content, its error, and a toggle for the requests behind it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, errorText } from '../client/api-error.ts';
import { csvName, csvOf, isList, MAX_CSV_ROWS } from '../client/csv.ts';
import { csvOfRows } from '../client/csv-rows.ts';
import type { Loaded } from '../client/use-answer.ts';
import { CsvButton } from './csv-button.tsx';
import { grouped } from './format.ts';
import { Requests } from './requests.tsx';

interface SectionProps<T> {
  id: string;
  title: string;
  /** One sentence about the content. */
  note?: ComponentChildren;
  /** Whether its title is the page's title. */
  isPage?: boolean;
  loaded: Loaded<T>;
  /** What its table shows, where that is no list of the API that could be read as CSV. */
  rows?: readonly object[] | undefined;
  /** Shown beside the title: filters, exports. */
  controls?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}

export function Section<T>({
  id,
  title,
  note,
  isPage = false,
  loaded,
  rows,
  controls,
  children,
}: SectionProps<T>) {
  const [isOpen, setOpen] = useState(false);
  const { data, error, loading, exchanges } = loaded;
  // A section that combines several answers shows no single list.
  const list = exchanges.length === 1 ? exchanges.find(isList) : undefined;
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <section id={id} class="section" aria-labelledby={`${id}-title`} aria-busy={loading}>
      <header>
        <Heading id={`${id}-title`}>{title}</Heading>
        {note && <p class="soft small">{note}</p>}
        <div class="controls">
          {controls}
          {rows !== undefined
            ? rows.length > 0 && (
                <CsvButton name={`${id}.csv`} title="These rows as CSV" load={() => csvOfRows(rows)} />
              )
            : list !== undefined && (
                <CsvButton
                  name={csvName(list)}
                  title={`The whole list as CSV, ${grouped(MAX_CSV_ROWS)} rows at most`}
                  load={(api, signal) => csvOf(list, api, signal)}
                />
              )}
          {exchanges.length > 0 && (
            <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              API
            </button>
          )}
        </div>
      </header>
      {isOpen && <Requests exchanges={exchanges} />}
      {error !== null && <Failure error={error} onRetry={loaded.reload} />}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </section>
  );
}

export function Loading() {
  return (
    <p class="loading soft" role="status">
      Loading …
    </p>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const code = error instanceof ApiError ? error.code : '';
  const tone = { not_ready: 'wait', not_found: '' }[code] ?? 'bad';
  return (
    <div class={`notice ${tone}`} role="alert">
      <p>{errorText(error)}</p>
      {tone === 'bad' && (
        <button type="button" class="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}
