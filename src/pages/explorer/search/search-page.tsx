/** The results of a search. Opens a single exact match at once. */
import { useEffect } from 'preact/hooks';
import { useLoaded } from '../../client/use-answer.ts';
import { kindText, safeName, shortHex } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import { navigate, useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { rememberSearch } from './recent-searches.ts';
import { type Found, pathOf, resolve } from './resolve.ts';

export function SearchPage({ text }: { text: string }) {
  useTitle('Search');
  const search = useLoaded(`search ${text}`, (api, signal) => resolve(api, text, signal));
  const only = search.data?.length === 1 ? search.data[0] : undefined;
  useEffect(() => {
    if (only === undefined) return;
    rememberSearch(only);
    navigate(pathOf(only), { replace: true });
  }, [only]);
  return (
    <Section id="search" isPage title="Search" loaded={search}>
      {(found) =>
        found.length === 0 ? (
          <div class="notice">
            <p>
              No results for <bdi class="mono break">{safeName(text, 100)}</bdi>.
            </p>
            <p class="small">{hintFor(text)}</p>
          </div>
        ) : (
          <ul class="results">
            {found.map((result) => (
              <li key={`${result.kind} ${result.value}`}>
                <ResultLink result={result} />
              </li>
            ))}
          </ul>
        )
      }
    </Section>
  );
}

function ResultLink({ result }: { result: Found }) {
  return (
    <Link to={pathOf(result)}>
      <ResultText result={result} />
    </Link>
  );
}

/** A result on one line: its name, its kind, and its value. */
export function ResultText({ result: { kind, value, name, symbol, detail } }: { result: Found }) {
  const shown = safeName(name ?? '', 40);
  const short = safeName(symbol ?? '');
  return (
    <>
      <span class="tag">{kind}</span> {shown !== '' && <bdi>{shown}</bdi>}{' '}
      {short !== '' && <bdi>({short})</bdi>}{' '}
      <span class={shown === '' ? 'mono' : 'mono soft small'}>{shortHex(value)}</span>{' '}
      {detail !== null && <span class="soft small">{safeName(detail, 60).replace(/^erc\d+/, kindText)}</span>}
    </>
  );
}

function hintFor(text: string): string {
  const digits = /^(?:0x)?([0-9a-f]+)$/i.exec(text)?.[1]?.length;
  return digits !== undefined && digits > 15
    ? `It has ${digits} hexadecimal digits; an address has 40, a hash 64. Was it copied completely?`
    : 'You can search for addresses, hashes, block numbers, token names and symbols, and labels.';
}
