/** The explorer's frame, its API key, and the page for the current URL. */
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Api } from '../client/api.ts';
import { type ApiError, errorText } from '../client/api-error.ts';
import { forgetKey, PUBLIC_KEY, readKey, saveKey, takeKeyFromOpeningTab } from '../client/key.ts';
import { Throttle } from '../client/throttle.ts';
import { ApiProvider } from '../client/use-answer.ts';
import { Frame } from '../ui/frame.tsx';
import { usePlace } from '../ui/router.ts';
import { TimeSwitch } from '../ui/time.tsx';
import { ChainState } from './chain-state.tsx';
import { Missing } from './coverage.tsx';
import { KeyForm } from './key-form.tsx';
import { pageAt } from './routes.tsx';
import { SearchField } from './search/search-field.tsx';

export function App() {
  const place = usePlace();
  const [key, setKey] = useState(readKey);
  const [problem, setProblem] = useState('');
  const [pause, setPause] = useState(0);
  const [asked, setAsked] = useState(key !== '');
  const use = (text: string) => {
    saveKey(text);
    setProblem('');
    setKey(text);
  };
  const forget = (why: string) => {
    forgetKey();
    setKey(why === '' ? PUBLIC_KEY : '');
    setProblem(why);
  };
  useEffect(() => {
    if (key === '')
      void takeKeyFromOpeningTab((text) => readKey() === '' && use(text)).then(() => setAsked(true));
  }, []);
  const throttle = useMemo(() => new Throttle(setPause), []);
  const context = useMemo(
    () => ({ api: new Api(key, throttle), onRefusedKey: (error: ApiError) => forget(errorText(error)) }),
    [key, throttle],
  );
  useStartOfPage(place.path);
  return (
    <Frame
      current={place.path}
      bar={
        <>
          <SearchField api={key === '' ? null : context.api} />
          <ChainState />
          <TimeSwitch />
          <KeyButton value={key} onForget={() => forget('')} onEnter={() => setKey('')} />
        </>
      }
    >
      {pause > 0 && (
        <p class="pace" role="status">
          This key is over its rate limit. Continuing in {pause} s.
        </p>
      )}
      {key !== '' ? (
        <ApiProvider.Provider value={context}>
          <Missing />
          {pageAt(place)}
        </ApiProvider.Provider>
      ) : (
        asked && (
          <>
            <KeyForm problem={problem} onKey={use} />
            {PUBLIC_KEY !== '' && (
              <p class="key-form">
                <button type="button" class="quiet" onClick={() => setKey(PUBLIC_KEY)}>
                  Continue without a key
                </button>
              </p>
            )}
          </>
        )
      )}
    </Frame>
  );
}

interface KeyButtonProps {
  value: string;
  onForget: () => void;
  /** A visitor without a key wants to enter one. */
  onEnter: () => void;
}

function KeyButton({ value, onForget, onEnter }: KeyButtonProps) {
  if (value === '') return null;
  const isPublic = value === PUBLIC_KEY;
  return (
    <button
      type="button"
      class="quiet"
      title={isPublic ? 'Use your own key, with its own limits' : `Key ${value.slice(0, 10)}…`}
      onClick={isPublic ? onEnter : onForget}
    >
      {isPublic ? 'Use a key' : 'Forget key'}
    </button>
  );
}

/** A new page starts at its top, with the keyboard focus; going back restores the position. */
function useStartOfPage(path: string): void {
  const [first] = useState(path);
  useLayoutEffect(() => {
    if (path === first && history.state === null) return;
    const top: unknown = history.state?.scroll;
    scrollTo(0, typeof top === 'number' ? top : 0);
    document.querySelector('main')?.focus({ preventScroll: true });
  }, [path, first]);
}
