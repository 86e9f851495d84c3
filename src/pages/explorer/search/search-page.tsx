/** The results of a search. Opens a single exact match at once. */
import { useEffect } from 'preact/hooks';
import { useLoaded } from '../../client/use-answer.ts';
import { grouped, kindText, safeName, shortHex } from '../../ui/format.ts';
import { blockPath, Link } from '../../ui/link.tsx';
import { navigate, useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { rememberSearch } from './recent-searches.ts';
import { type Found, pathOf, resolve } from './resolve.ts';

export function SearchPage({ text }: { text: string }) {
  useTitle('Search');
  const search = useLoaded(`search ${text}`, (api, signal) => resolve(api, text, signal));
  const { results = [], note = null } = search.data ?? {};
  const only = results.length === 1 && note === null ? results[0] : undefined;
  useEffect(() => {
    if (only === undefined) return;
    rememberSearch(only);
    navigate(pathOf(only), { replace: true });
  }, [only]);
  return (
    <Section id="search" isPage title="Search" loaded={search}>
      {({ results, note, block }) => (
        <>
          {(results.length === 0 || note !== null) && (
            <div class="notice">
              {results.length === 0 && text.trim() !== '' && (
                <p>
                  No results for <bdi class="mono break">{safeName(text, 100)}</bdi>.
                </p>
              )}
              <p class="small">{note === null ? hintFor(text) : sentence(note)}</p>
              {block !== null && (
                <p class="small">
                  <Link to={blockPath(block)}>Ask the node for block {grouped(block)}</Link>
                </p>
              )}
            </div>
          )}
          {results.length > 0 && (
            <ul class="results">
              {results.map((result) => (
                <li key={`${result.kind} ${result.value}`}>
                  <ResultLink result={result} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Section>
  );
}

/** A note of the API as a sentence, short and without characters that could reorder it. */
function sentence(note: string): string {
  const shown = safeName(note, 200);
  return `${shown.charAt(0).toUpperCase()}${shown.slice(1)}.`;
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
  if (/^[0-9]{16,}$/.test(text.trim()))
    return `It has ${text.trim().length} digits: too many for a block number. An address and a hash begin with 0x.`;
  const digits = /^(?:0x)?([0-9a-f]+)$/i.exec(text.trim())?.[1]?.length;
  return digits !== undefined && digits > 15
    ? `It has ${digits} hexadecimal digits; an address has 40, a hash 64. Was it copied completely?`
    : 'You can search for addresses (also shortened: 0x3f5c…f0be), whole hashes, block ' +
        'numbers, the ' +
        'beginning of token names and symbols, and words of labels.';
}
