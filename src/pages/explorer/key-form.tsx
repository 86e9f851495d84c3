/** The first visit: where to get a key, and how the explorer uses it. */
import { useEffect, useRef } from 'preact/hooks';
import { Link } from '../ui/link.tsx';
import { useTitle } from '../ui/router.ts';

export function KeyForm({ problem, onKey }: { problem: string; onKey: (key: string) => void }) {
  useTitle('Explorer');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const key = input.current?.value.trim() ?? '';
    if (key !== '') onKey(key);
  };
  return (
    <form class="key-form" onSubmit={submit}>
      <h1>Who paid whom, since the first indexed block</h1>
      <p class="soft">
        The explorer calls the API of this server with your key. The key stays in this tab and in tabs opened
        from it, and is forgotten when they close.
      </p>
      {problem !== '' && (
        <p id="key-problem" class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <label class="field">
        API key
        <input
          ref={input}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          placeholder="atlas_…"
          aria-describedby={problem === '' ? undefined : 'key-problem'}
        />
      </label>
      <button type="submit" class="button main">
        Use this key
      </button>
      <h2>Where do I get a key?</h2>
      <ul class="soft small">
        <li>
          <code>atlas-node dev</code>, the demo chain, prints one when it starts.
        </li>
        <li>
          <code>atlas-node keys create --name you --tier free</code> issues one, if you run this server.
        </li>
        <li>Otherwise the operator of this server issues keys.</li>
      </ul>
      <p class="small">
        The <Link to="/docs">API documentation</Link> needs no key.
      </p>
    </form>
  );
}
