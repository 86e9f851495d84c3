/** Downloads the list of a section as CSV. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiExchange } from '../client/api.ts';
import { errorText, logFault } from '../client/api-error.ts';
import { csvName, csvOf, MAX_CSV_ROWS } from '../client/csv.ts';
import { download } from '../client/download.ts';
import { useApi } from '../client/use-answer.ts';
import { grouped } from './format.ts';

export function CsvButton({ list }: { list: ApiExchange }) {
  const api = useApi();
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const ending = useRef<AbortController | null>(null);
  useEffect(() => () => ending.current?.abort(), []);
  const save = async () => {
    ending.current = new AbortController();
    setLoading(true);
    setFailure(null);
    try {
      const text = await csvOf(list, api, ending.current.signal);
      download(new Blob([text], { type: 'text/csv' }), csvName(list));
    } catch (error) {
      if (ending.current.signal.aborted) return;
      logFault(error);
      setFailure(error);
    } finally {
      setLoading(false);
    }
  };
  return (
    <button
      type="button"
      class="quiet"
      title={
        failure === null ? `The whole list as CSV, ${grouped(MAX_CSV_ROWS)} rows at most` : errorText(failure)
      }
      disabled={isLoading}
      onClick={save}
    >
      {isLoading ? 'CSV …' : failure === null ? 'CSV' : 'CSV failed: retry'}
    </button>
  );
}
