/** Signing in with the operator token. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useTitle } from '../ui/router.ts';
import { adminErrorText, callAdmin } from './admin-api.ts';

/** `reason`: why the operator must sign in again; empty at first. */
export function SignIn({ reason, onSignedIn }: { reason: string; onSignedIn: () => void }) {
  useTitle('Sign in · Panel');
  const [problem, setProblem] = useState(reason);
  const input = useRef<HTMLInputElement>(null);
  const isSending = useRef(false);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isSending.current) return;
    isSending.current = true;
    try {
      await callAdmin('POST', 'session', { body: { token: input.current?.value ?? '' } });
      onSignedIn();
    } catch (error) {
      setProblem(adminErrorText(error));
      input.current?.select();
    } finally {
      isSending.current = false;
    }
  };
  return (
    <form class="key-form" onSubmit={submit}>
      <h1>Sign in</h1>
      <p class="soft">
        Use the operator token of this server: <code>admin_token</code> in its configuration, or{' '}
        <code>ATLAS_ADMIN_TOKEN</code>.
      </p>
      <label class="field">
        Operator token
        <input ref={input} type="password" name="token" autocomplete="current-password" required />
      </label>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="button main">
        Sign in
      </button>
    </form>
  );
}
