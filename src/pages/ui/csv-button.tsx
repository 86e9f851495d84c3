/** Downloads the list or the rows of a section as CSV. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../client/api.ts';
import { errorText, logFault } from '../client/api-error.ts';
import { download } from '../client/download.ts';
import { useApi } from '../client/use-answer.ts';

interface CsvButtonProps {
  /** Of the file. */
  name: string;
  title: string;
  load: (api: Api, signal: AbortSignal) => string | Promise<string>;
}

export function CsvButton({ name, title, load }: CsvButtonProps) {
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
      const text = await load(api, ending.current.signal);
      download(new Blob([text], { type: 'text/csv' }), name);
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
      title={failure === null ? title : errorText(failure)}
      disabled={isLoading}
      onClick={save}
    >
      {isLoading ? 'CSV …' : failure === null ? 'CSV' : 'CSV failed: retry'}
    </button>
  );
}
