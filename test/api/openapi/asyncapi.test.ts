import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { SIGNAL_EVENTS } from '../../../src/model/stream-filters.ts';
import { signalFilterSchema, walletFilterSchema } from '../../../src/schemas/stream-filters.ts';
import { parseSignalFilter, parseWalletFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { serve } from '../../server/serving.ts';
import { asyncDocument } from '../../support/clients/openapi.ts';

const specification: object = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json');
/** The specification includes the schema of JSON Schema itself. */
const isAsyncApi = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
}).compile(specification);

test('the document is valid AsyncAPI 3.0, and a document with a mistake is not', () => {
  const document = structuredClone(asyncDocument);
  assert.ok(isAsyncApi(document), JSON.stringify(isAsyncApi.errors));
  assert.ok(!isAsyncApi({ ...document, operations: { x: { action: 'shout', channel: {} } } }));
  assert.ok(!isAsyncApi({ ...document, channels: { ws: { address: 5 } } }));
});

test('every reference resolves', () => {
  const references = [...JSON.stringify(asyncDocument).matchAll(/"\$ref":"#\/([^"]+)"/g)];
  assert.ok(references.length > 30);
  for (const [, path = ''] of references) {
    const found = path.split('/').reduce<unknown>((part, name) => Object(part)[name], asyncDocument);
    assert.ok(found !== undefined, path);
  }
});

test('the documented filter members are those that the service accepts', () => {
  const membersIn = (parse: () => unknown) => {
    try {
      parse();
    } catch (error) {
      return String(error).split('the members are ')[1]?.split(', ').sort();
    }
    return undefined;
  };
  assert.deepEqual(
    membersIn(() => parseWalletFilter({ nonsense: 1 })),
    Object.keys(walletFilterSchema.shape).sort(),
  );
  assert.deepEqual(
    membersIn(() => parseSignalFilter({ nonsense: 1 })),
    Object.keys(signalFilterSchema.shape).sort(),
  );
  assert.deepEqual(signalFilterSchema.shape.events.unwrap().unwrap().element.options, SIGNAL_EVENTS);
});

test('/asyncapi.json needs no key', async (t) => {
  const { server } = await serve(t);
  const response = await fetch(`${server.url}/asyncapi.json`);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  const { channels } = (await response.json()) as typeof asyncDocument;
  assert.deepEqual(
    Object.values(channels).map(({ address }) => address),
    ['/ws', '/ws/signals'],
  );
});
