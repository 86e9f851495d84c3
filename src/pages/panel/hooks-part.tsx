/** Webhooks and their state, the address lists in their filters, and labels. */
import { type ComponentChild, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { grouped, safeName } from '../ui/format.ts';
import { usePlace } from '../ui/router.ts';
import { Section } from '../ui/section.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { type Action, type AdminAnswers, callAdmin, useAction, usePolled } from './admin-api.ts';
import { Confirm, Problem, SecretOnce } from './dialog.tsx';
import { NAME_CHARS } from './keys/key-text.ts';

const POLL_MS = 3_000;
const LABELS_POLL_MS = 10_000;
const SOURCE_CHARS = 60;

type Hook = AdminAnswers['hooks']['hooks'][number];

export function HooksPart() {
  const hooks = usePolled('hooks', POLL_MS);
  const lists = usePolled('lists', POLL_MS);
  const action = useAction();
  const [dialog, setDialog] = useState<ComponentChild>(null);
  const close = () => setDialog(null);
  const act = async (hook: Hook, name: string) => {
    await action.run(() => callAdmin('POST', `hooks/${hook.id}/${name}`, { body: {} }));
    hooks.reload();
  };
  const remove = (hook: Hook) =>
    setDialog(
      <Confirm
        title={`Delete webhook ${hook.id}?`}
        text={`Deliveries to ${hook.url} stop. It will not receive undelivered events.`}
        action="Delete"
        onConfirm={() => act(hook, 'delete')}
        onClose={close}
      />,
    );
  const showSecret = (title: string, secret: string) => {
    hooks.reload();
    setDialog(<SecretOnce title={title} secret={secret} onClose={close} />);
  };
  const rotate = (hook: Hook) =>
    setDialog(
      <Confirm
        title={`Replace the secret of webhook ${hook.id}?`}
        text="Its deliveries carry a signature with each secret for a day, so that the receiver can change in between."
        action="Rotate"
        onConfirm={async () => {
          const name = safeName(hook.name, NAME_CHARS);
          const rotated = await action.run(() => postForSecret(`hooks/${hook.id}/rotate`, {}));
          if (rotated !== null) showSecret(`The new secret that verifies ${name}`, rotated.secret);
        }}
        onClose={close}
      />,
    );
  const actions: Column<Hook> = {
    title: '',
    plain: true,
    cell: (hook) => (
      <span class="buttons">
        <HookButton text="Test" hook={hook} onClick={() => act(hook, 'test')} />
        {hook.state === 'active' ? (
          <HookButton text="Pause" hook={hook} onClick={() => act(hook, 'pause')} />
        ) : (
          <HookButton text="Resume" hook={hook} onClick={() => act(hook, 'resume')} />
        )}
        <HookButton text="Rotate" hook={hook} onClick={() => rotate(hook)} />
        <HookButton text="Delete" hook={hook} onClick={() => remove(hook)} />
      </span>
    ),
  };
  return (
    <>
      <Section
        id="hooks"
        isPage
        title="Webhooks"
        note="Wallet and token events, signed and sent to a URL as they are indexed."
        loaded={hooks}
      >
        {({ hooks: listed }) => (
          <>
            <NewHook action={action} onCreated={showSecret} />
            <Problem text={action.problem} />
            <Table
              caption="Webhooks"
              rows={listed}
              rowKey={({ id }) => id}
              columns={[...COLUMNS, actions]}
              empty="There are no webhooks yet. Create the first one above."
            />
          </>
        )}
      </Section>
      <Section
        id="lists"
        title="Address lists"
        note="Filters refer to a list as list:NAME. Import: atlas-node lists import FILE --name NAME"
        loaded={lists}
      >
        {({ lists: listed }) => (
          <Table
            caption="Address lists"
            rows={listed}
            rowKey={({ name }) => name}
            columns={[
              { title: 'Name', plain: true, cell: ({ name }) => <code>{name}</code> },
              { title: 'Addresses', number: true, cell: ({ addresses }) => grouped(addresses) },
              {
                title: 'Imported',
                cell: ({ importedAt }) => <Time iso={new Date(importedAt).toISOString()} />,
              },
            ]}
            empty="No lists."
          />
        )}
      </Section>
      <LabelsSection />
      {dialog}
    </>
  );
}

const COLUMNS: Column<Hook>[] = [
  {
    title: 'Name',
    plain: true,
    cell: ({ name, key }) => (
      <>
        <bdi class="name">{safeName(name, NAME_CHARS)}</bdi>
        {key !== null && <small class="soft"> of key {key}</small>}
      </>
    ),
  },
  { title: 'Delivers to', cell: ({ url, format }) => `${url} (${format})` },
  { title: 'State', cell: (hook) => <HookState hook={hook} /> },
  { title: 'Next block', number: true, cell: ({ cursorBlock }) => grouped(cursorBlock) },
  { title: 'Events', number: true, cell: ({ delivered }) => grouped(delivered) },
  {
    title: 'Last success',
    cell: ({ lastSuccessAt }) => (lastSuccessAt === null ? 'none yet' : <Time iso={lastSuccessAt} />),
  },
];

function HookState({ hook: { state, failures, reason, lastError, testResult } }: { hook: Hook }) {
  const isFailing = state === 'active' && failures > 0;
  const why = reason ?? (isFailing ? lastError : null);
  return (
    <>
      {isFailing ? <span class="out">failing</span> : state}
      {why !== null && <small class="soft"> {why}</small>}
      {testResult !== null && <small class="soft"> test: {testResult}</small>}
    </>
  );
}

function HookButton({ text, hook, onClick }: { text: string; hook: Hook; onClick: () => void }) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`${text} ${safeName(hook.name, NAME_CHARS)}`}
      onClick={onClick}
    >
      {text}
    </button>
  );
}

interface NewHookProps {
  action: Action;
  onCreated: (title: string, secret: string) => void;
}

function NewHook({ action, onCreated }: NewHookProps) {
  const [round, setRound] = useState(0);
  const [format, setFormat] = useState('json');
  // The explorer links here with the filter for a wallet.
  const filter = usePlace().params.get('filter') ?? '';
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const created = await action.run(() => postForSecret('hooks', hookOf(data)));
    if (created === null) return;
    setRound(round + 1);
    onCreated(`The secret that verifies ${created.name}`, created.secret);
  };
  return (
    <form class="row-form" onSubmit={submit}>
      <Fragment key={round}>
        <label class="field">
          URL
          <input name="url" type="url" required placeholder="https://" />
        </label>
        <label class="field">
          Name
          <input name="name" maxLength={100} placeholder="Purpose" />
        </label>
        <label class="field">
          Format
          <select
            name="format"
            value={format}
            onChange={({ currentTarget }) => setFormat(currentTarget.value)}
          >
            {['json', 'slack', 'discord', 'telegram'].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {format === 'telegram' && (
          <label class="field">
            Chat
            <input name="chat" required placeholder="id, or @channel" />
          </label>
        )}
        <details open={filter !== ''}>
          <summary>Filter, confirmations, key</summary>
          <div class="stack">
            <label class="field">
              Filter, as for atlas_subscribe
              <textarea
                name="filter"
                defaultValue={filter}
                rows={3}
                spellcheck={false}
                placeholder='{"events":["whale_transfer"],"minMon":"1000"}'
              />
            </label>
            <label class="field">
              Confirmations
              <input name="confirmations" type="number" min={0} max={100_000} placeholder="0" />
            </label>
            <label class="field">
              Blocks
              <select name="finality">
                <option value="">as they are indexed</option>
                <option value="true">only once they are final</option>
              </select>
            </label>
            <label class="field">
              Replay from block
              <input name="fromBlock" type="number" min={0} placeholder="none: begin with the next block" />
            </label>
            <label class="field">
              Number of the owning key
              <input name="key" type="number" min={1} placeholder="the operator" />
            </label>
          </div>
        </details>
      </Fragment>
      <button type="submit" class="button main">
        Create webhook
      </button>
    </form>
  );
}

/** Posts a request whose answer shows a secret, the only time. */
async function postForSecret(path: string, body: object): Promise<{ name: string; secret: string }> {
  const { hook } = (await callAdmin('POST', path, { body })) as { hook: { name: string; secret: string } };
  return hook;
}

/** The body of the request, without empty fields. Throws if the filter is not JSON. */
function hookOf(data: FormData): object {
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const number = (name: string) => (text(name) === '' ? undefined : Number(text(name)));
  const optional = (name: string) => text(name) || undefined;
  return {
    url: text('url'),
    format: text('format'),
    name: optional('name'),
    chat: optional('chat'),
    // The server refuses text that is not JSON and says what a filter must be.
    filter: text('filter') === '' ? undefined : parseOr(text('filter')),
    confirmations: number('confirmations'),
    finality: text('finality') === 'true' || undefined,
    fromBlock: number('fromBlock'),
    key: number('key'),
  };
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function LabelsSection() {
  const labels = usePolled('labels', LABELS_POLL_MS);
  return (
    <Section
      id="labels"
      title="Labels"
      note="Names of addresses, shown beside them everywhere. Import: atlas-node labels import FILE"
      loaded={labels}
    >
      {({ labels: counts }) => (
        <Table
          caption="Labels by source and category"
          rows={counts}
          rowKey={({ source, category }) => `${source} ${category}`}
          columns={[
            {
              title: 'Source',
              plain: true,
              cell: ({ source }) => <bdi>{safeName(source, SOURCE_CHARS)}</bdi>,
            },
            { title: 'Category', plain: true, cell: ({ category }) => category },
            { title: 'Labels', number: true, cell: ({ labels: count }) => grouped(count) },
          ]}
          empty="No labels."
        />
      )}
    </Section>
  );
}
