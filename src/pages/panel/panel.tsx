/** The panel's frame: sign-in and sign-out, and the part for the current URL. */
import { useEffect, useState } from 'preact/hooks';
import { Frame } from '../ui/frame.tsx';
import { usePlace, useTitle } from '../ui/router.ts';
import { Loading } from '../ui/section.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { TimeSwitch } from '../ui/time.tsx';
import { adminErrorText, callAdmin, SessionEnd, useAction } from './admin-api.ts';
import { HooksPart } from './hooks-part.tsx';
import { IndexPart } from './index/index-part.tsx';
import { KeysPart } from './keys/keys-part.tsx';
import { OverviewPart } from './overview-part.tsx';
import { SettingsPart } from './settings-part.tsx';
import { SignIn } from './sign-in.tsx';
import { SocketsPart } from './sockets-part.tsx';
import { SqlPart } from './sql/sql-part.tsx';

const PARTS = [
  { id: 'overview', title: 'Overview', Part: OverviewPart },
  { id: 'keys', title: 'Keys', Part: KeysPart },
  { id: 'index', title: 'Index', Part: IndexPart },
  { id: 'sockets', title: 'Sockets', Part: SocketsPart },
  { id: 'hooks', title: 'Webhooks', Part: HooksPart },
  { id: 'sql', title: 'SQL', Part: SqlPart },
  { id: 'settings', title: 'Settings', Part: SettingsPart },
] as const;

/** Delay before asking an unresponsive server again whether there is a session. */
const RETRY_MS = 3_000;

type Session = { is: 'unknown'; problem: string } | { is: 'open' } | { is: 'none'; reason: string };

export function Panel() {
  const [session, setSession] = useState<Session>({ is: 'unknown', problem: '' });
  const signOut = useAction();
  useEffect(() => {
    const ask = async () => {
      try {
        const answer = await callAdmin('GET', 'session');
        const isSignedIn = typeof answer === 'object' && answer !== null && Reflect.get(answer, 'signedIn');
        setSession(isSignedIn === true ? { is: 'open' } : { is: 'none', reason: '' });
      } catch (error) {
        setSession({ is: 'unknown', problem: adminErrorText(error) });
        setTimeout(ask, RETRY_MS);
      }
    };
    void ask();
  }, []);
  const onSignOut = async () => {
    const answer = await signOut.run(() => callAdmin('DELETE', 'session'));
    if (answer !== null) setSession({ is: 'none', reason: '' }); // a session that is still alive must not appear ended
  };
  return (
    <Frame
      current="/admin"
      bar={
        <div class="session">
          <TimeSwitch />
          {session.is === 'open' && (
            <button type="button" class="quiet" onClick={onSignOut}>
              Sign out
            </button>
          )}
        </div>
      }
    >
      {signOut.problem !== '' && (
        <p class="notice bad" role="alert">
          {signOut.problem}
        </p>
      )}
      {session.is === 'unknown' &&
        (session.problem === '' ? (
          <Loading />
        ) : (
          <p class="notice bad" role="alert">
            {session.problem}
          </p>
        ))}
      {session.is === 'none' && (
        <SignIn reason={session.reason} onSignedIn={() => setSession({ is: 'open' })} />
      )}
      {session.is === 'open' && (
        <SessionEnd.Provider value={() => setSession({ is: 'none', reason: 'The session has ended.' })}>
          <CurrentPart />
        </SessionEnd.Provider>
      )}
    </Frame>
  );
}

function CurrentPart() {
  const { params } = usePlace();
  const { id, title, Part } = PARTS.find(({ id }) => id === params.get('part')) ?? PARTS[0];
  useTitle(`${title} · Panel`);
  return (
    <>
      <Tabs
        label="Parts of the panel"
        current={id}
        tabs={PARTS.map(({ id, title }) => ({
          id,
          title,
          to: id === PARTS[0].id ? '/admin' : `/admin?part=${id}`,
        }))}
      />
      <Part key={id} />
    </>
  );
}
