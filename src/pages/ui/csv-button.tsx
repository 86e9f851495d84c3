/** Downloads the list of a section as CSV. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Exchange } from '../client/api.ts';
import { csvName, csvOf, MAX_CSV_ROWS } from '../client/csv.ts';
import { download } from '../client/download.ts';
import { useApi } from '../client/use-answer.ts';
import { grouped } from './format.ts';

type State = 'ready' | 'loading' | 'failed';

const TEXT: Record<State, string> = { ready: 'CSV', loading: 'CSV …', failed: 'CSV failed: retry' };

export function CsvButton({ list }: { list: Exchange }) {
  const api = useApi();
  const [state, setState] = useState<State>('ready');
  const ending = useRef<AbortController | null>(null);
  useEffect(() => () => ending.current?.abort(), []);
  const save = async () => {
    ending.current = new AbortController();
    setState('loading');
    try {
      const text = await csvOf(list, api, ending.current.signal);
      download(new Blob([text], { type: 'text/csv' }), csvName(list));
      setState('ready');
    } catch (error) {
      if (ending.current.signal.aborted) return;
      console.error(error);
      setState('failed');
    }
  };
  return (
    <button
      type="button"
      class="quiet"
      title={`The whole list as CSV, ${grouped(MAX_CSV_ROWS)} rows at most`}
      disabled={state === 'loading'}
      onClick={save}
    >
      {TEXT[state]}
    </button>
  );
}
