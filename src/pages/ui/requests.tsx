/** The requests behind a section, as curl commands with their answers. */
import type { ApiExchange } from '../client/api.ts';
import { Copy } from './copy.tsx';
import { grouped } from './format.ts';
import { href } from './router.ts';

/** Longer answers are truncated to keep the page fast. */
const MAX_CHARACTERS = 20_000;

interface RequestsProps {
  exchanges: readonly ApiExchange[];
  /** Whether answers are visible initially. */
  isOpen?: boolean;
}

export function Requests({ exchanges, isOpen = false }: RequestsProps) {
  return (
    <div class="requests">
      {exchanges.map((exchange) => (
        <Request key={`${exchange.path} ${exchange.body}`} exchange={exchange} isOpen={isOpen} />
      ))}
    </div>
  );
}

function Request({ exchange, isOpen }: { exchange: ApiExchange; isOpen: boolean }) {
  const { method, path, status, ms, block, answer } = exchange;
  const command = curl(exchange);
  const text = JSON.stringify(answer, null, 2);
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n…` : text;
  return (
    <details open={isOpen}>
      <summary>
        <code>
          {method} {path}
        </code>{' '}
        <span class="soft nowrap">
          {status}, {grouped(ms)} ms{block !== null && `, block ${grouped(Number(block))}`}
        </span>
      </summary>
      <p class="curl with-copy">
        <code>{command}</code>
        <Copy text={command} what="as curl" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <section tabIndex={0} aria-label="Answer">
        <pre>{shown}</pre>
      </section>
    </details>
  );
}

/** Excludes the key from everything shown and copied. */
function curl({ path, body }: ApiExchange): string {
  const data = body === null ? '' : ` -H 'Content-Type: application/json' -d '${body}'`;
  return `curl -H "X-API-Key: $ATLAS_KEY"${data} '${href(path)}'`;
}
