/** Keys: creating, finding, changing, rotating and revoking them. */
import { type ComponentChild, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { dateTime, grouped } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { callAdmin, type IssuedKey, useAction, usePolled } from '../admin-api.ts';
import { Confirm, Dialog, Problem, SecretOnce } from '../dialog.tsx';
import { KeyFields, RareFields, settingsOf } from './key-fields.tsx';
import { KeyTable } from './key-table.tsx';
import { type KeyList, keyName, keyState, type ListedKey, searchText } from './key-text.ts';
import { UsageSection } from './usage-section.tsx';

const POLL_MS = 3_000;

export function KeysPart() {
  const keys = usePolled('keys', POLL_MS);
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState<ListedKey | null>(null);
  const [dialog, setDialog] = useState<ComponentChild>(null);
  const { problem, run } = useAction();
  const close = () => setDialog(null);
  const act = async (path: string, body: object = {}) => {
    const answer = await run(() => callAdmin('POST', path, { body }));
    if (answer !== null) keys.reload();
    return answer;
  };
  const issue = async (path: string, body?: object) => {
    const answer = (await act(path, body)) as IssuedKey | null;
    if (answer !== null)
      setDialog(
        <SecretOnce title={`The key of ${answer.record.name}`} secret={answer.key} onClose={close} />,
      );
    return answer !== null;
  };
  const rotate = (key: ListedKey) =>
    setDialog(
      <Confirm
        title={`Replace key ${key.id}?`}
        text={
          `The current key of ${keyName(key)} stops working at once, and its owner needs the new one. ` +
          'Name, tier and usage stay.'
        }
        action="Rotate"
        onConfirm={() => issue(`keys/${key.id}/rotate`)}
        onClose={close}
      />,
    );
  const revoke = (key: ListedKey) =>
    setDialog(
      <Confirm
        title={`Revoke key ${key.id}?`}
        text={`The key of ${keyName(key)} stops working at once, and its sockets are closed. This cannot be undone.`}
        action="Revoke"
        onConfirm={async () => {
          await act(`keys/${key.id}/revoke`);
          document.getElementById(`usage-of-${key.id}`)?.focus(); // the pressed button disappears
        }}
        onClose={close}
      />,
    );
  const edit = (key: ListedKey, tiers: KeyList['tiers']) =>
    setDialog(<EditKey listed={key} tiers={tiers} onDone={keys.reload} onClose={close} />);
  return (
    <>
      <Section
        id="keys"
        isPage
        title="Keys"
        note={keys.data && `Counts reset on ${dateTime(keys.data.monthEndsAt).slice(0, 10)}, 00:00 UTC.`}
        loaded={keys}
        controls={
          <input
            type="search"
            aria-label="Search the keys"
            placeholder="Search"
            title="Number, name, key, tier, endpoint, “valid”, “revoked” or “expired”"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        }
      >
        {(data) => (
          <>
            <NewKey tiers={data.tiers} onCreate={(settings) => issue('keys', settings)} />
            <Problem text={problem} />
            <KeyTable
              keys={data.keys.filter((key) => searchText(key).includes(wanted.trim().toLowerCase()))}
              empty={
                data.keys.length === 0
                  ? 'There are no keys yet. Create the first one above.'
                  : 'No keys match this search.'
              }
              onUsage={setChosen}
              onEdit={(key) => edit(key, data.tiers)}
              onRotate={rotate}
              onRevoke={revoke}
            />
            <p class="pager soft small">{summary(data.keys)}</p>
          </>
        )}
      </Section>
      <UsageSection chosen={chosen} onAll={() => setChosen(null)} />
      {dialog}
    </>
  );
}

function summary(keys: readonly ListedKey[]): string {
  const valid = keys.filter((key) => keyState(key) === 'valid').length;
  return `${grouped(valid)} valid, ${grouped(keys.length - valid)} revoked or expired.`;
}

interface NewKeyProps {
  tiers: KeyList['tiers'];
  /** Resolves with whether the key was created. */
  onCreate: (settings: object) => Promise<boolean>;
}

function NewKey({ tiers, onCreate }: NewKeyProps) {
  const [round, setRound] = useState(0);
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    if (await onCreate(settingsOf(event.currentTarget))) setRound(round + 1);
  };
  return (
    <form class="row-form" onSubmit={submit}>
      <Fragment key={round}>
        <KeyFields tiers={tiers} isShort />
        <details>
          <summary>Expiry, allowed</summary>
          <div class="stack">
            <RareFields />
          </div>
        </details>
      </Fragment>
      <button type="submit" class="button main">
        Create key
      </button>
    </form>
  );
}

interface EditKeyProps {
  listed: ListedKey;
  tiers: KeyList['tiers'];
  onDone: () => void;
  onClose: () => void;
}

function EditKey({ listed, tiers, onDone, onClose }: EditKeyProps) {
  const { problem, run } = useAction();
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const body = settingsOf(event.currentTarget);
    if ((await run(() => callAdmin('POST', `keys/${listed.id}`, { body }))) === null) return;
    onDone();
    onClose();
  };
  return (
    <Dialog title={`Change key ${listed.id}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <KeyFields tiers={tiers} value={listed} />
        <Problem text={problem} />
        <div class="buttons end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
