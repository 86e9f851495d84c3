/** "Try it": sends a documented request with the visitor's key and shows the answer. */
import { useState } from 'preact/hooks';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../../api/openapi/openapi.ts';
import { Api, type ApiExchange } from '../client/api.ts';
import { errorText } from '../client/api-error.ts';
import { PUBLIC_KEY, readKey, saveKey } from '../client/key.ts';
import { request } from '../client/request.ts';
import { Throttle } from '../client/throttle.ts';
import { Requests } from '../ui/requests.tsx';

interface TryItProps {
  path: string;
  method: 'GET' | 'POST';
}

/** Shared by all forms, so that together they respect the key's rate. */
const throttle = new Throttle(() => undefined);

let openApi: Promise<OpenApiDocument> | undefined;

async function operationOf({ path, method }: TryItProps): Promise<OpenApiOperation | undefined> {
  openApi ??= request('/openapi.json').then(({ answer }) => answer as OpenApiDocument);
  return (await openApi).paths[path]?.[method === 'GET' ? 'get' : 'post'];
}

export function TryIt(props: TryItProps) {
  const [operation, setOperation] = useState<OpenApiOperation | undefined>();
  const [problem, setProblem] = useState('');
  const open = async (event: Event & { currentTarget: HTMLDetailsElement }) => {
    if (!event.currentTarget.open || operation !== undefined) return;
    await operationOf(props).then(setOperation, (error: unknown) => setProblem(errorText(error)));
  };
  return (
    <details class="try-it" onToggle={open}>
      <summary>Try it</summary>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {operation && <RequestForm {...props} operation={operation} />}
    </details>
  );
}

function RequestForm({ path, method, operation }: TryItProps & { operation: OpenApiOperation }) {
  const [exchange, setExchange] = useState<ApiExchange | null>(null);
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const needsKey = operation.security === undefined;
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const key = String(data.get(KEY_FIELD) ?? '').trim();
    if (key !== '') saveKey(key);
    setSending(true);
    setProblem('');
    try {
      const api = new Api(readKey(), throttle);
      const sent = await api.send(method, path + queryOf(data), bodyOf(data), new AbortController().signal);
      setExchange(sent.exchange);
    } catch (error) {
      setExchange(null);
      setProblem(errorText(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <form onSubmit={submit}>
      {needsKey && (
        <label class="field">
          API key
          <input
            type="password"
            name={KEY_FIELD}
            autocomplete="off"
            placeholder={KEY_PLACEHOLDERS[readKey()] ?? `${readKey().slice(0, 10)}…`}
            required={readKey() === ''}
          />
        </label>
      )}
      {operation.parameters.map((parameter) => (
        <ParameterField key={parameter.name} parameter={parameter} />
      ))}
      {operation.requestBody && (
        <label class="field wide">
          Body
          <textarea name={BODY_FIELD} rows={4} spellcheck={false}>
            {JSON.stringify(operation.requestBody.content['application/json'].example, null, 2)}
          </textarea>
        </label>
      )}
      <button type="submit" class="button main" disabled={isSending}>
        Send
      </button>
      {problem !== '' && (
        <p class="notice bad wide" role="alert">
          {problem}
        </p>
      )}
      {exchange && (
        <div class="wide" role="status" aria-label="Answer">
          <Requests exchanges={[exchange]} isOpen />
        </div>
      )}
    </form>
  );
}

/** Shown in place of the start of the visitor's own key. */
const KEY_PLACEHOLDERS: Record<string, string> = { [PUBLIC_KEY]: 'not needed', '': 'atlas_…' };

/** Field names that no parameter uses. */
const KEY_FIELD = ' key';
const BODY_FIELD = ' body';

function ParameterField({ parameter: { name, required, schema, example } }: { parameter: OpenApiParameter }) {
  const byDefault = schema.default === undefined ? '' : String(schema.default);
  if (Array.isArray(schema.enum))
    return (
      <label class="field">
        {name}
        <select name={name} required={required}>
          {!required && <option value="">{byDefault}</option>}
          {schema.enum.map((one) => (
            <option key={String(one)}>{String(one)}</option>
          ))}
        </select>
      </label>
    );
  return (
    <label class="field">
      {name}
      <input
        name={name}
        required={required}
        defaultValue={required && example !== undefined ? String(example) : ''}
        placeholder={byDefault}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
  );
}

function queryOf(data: FormData): string {
  const given = [...data].flatMap(([name, value]) =>
    name.startsWith(' ') || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function bodyOf(data: FormData): string | null {
  const body = data.get(BODY_FIELD);
  return body === null ? null : String(body);
}
