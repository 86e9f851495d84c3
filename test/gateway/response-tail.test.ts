import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerIn } from '../../src/gateway/logs/logs.ts';
import {
  checkResponseTail,
  extractResponseTail,
  quickCheckResponseTail,
  resultOf,
} from '../../src/gateway/response-tail.ts';

const answer = (body: string, id = '"mine"') =>
  `{"jsonrpc":"2.0","id":${id},${extractResponseTail(Buffer.from(body))}`;

test('replaces the id in every form that nodes write, and passes the result byte for byte', () => {
  const result = '{ "id":1 , "n":1.0e5,"big":12345678901234567890,"text":"\\u00e9,\\"id\\":1}" }';
  const expected = { jsonrpc: '2.0', id: 'mine', result: JSON.parse(result) };
  const forms = [
    `{"jsonrpc":"2.0","id":1,"result":${result}}`,
    `{"jsonrpc":"2.0","result":${result},"id":1}`,
    `{"id":1,"jsonrpc":"2.0","result":${result}}`,
    `{"id":1,"result":${result}}`,
    `{"id":1,"result":${result},"jsonrpc":"2.0"}`,
    `{"result":${result},"id":1,"jsonrpc":"2.0"}`,
    `{ "result" : ${result} , "jsonrpc" : "2.0" , "id" : 1 }`,
    ` {\n "jsonrpc" : "2.0", "result" : ${result}, "id" : 1 }\n`,
    `{"result":${result},"id":null,"jsonrpc":"2.0","extra":[1]}`,
    `{"jsonrpc":"2.0","id":"1","result":${result}}`,
    `{"jsonrpc":"2.0","result":${result},"id":"1"}`,
    `{"jsonrpc":"2.0","id":1,"result":${result},"error":null}`,
    `{"jsonrpc":"2.0","id":1,"error":null,"result":${result}}`,
    `{"error" : null,"jsonrpc":"2.0","id":1,"result":${result}}`,
    `{"jsonrpc":"2.0","result":${result} , "error" : null , "id":1}`,
    `{"jsonrpc":"2.0","id":1,"result":${result} ,\n"error" : null }\n`,
  ];
  for (const form of forms) {
    const text = answer(form);
    assert.deepEqual(JSON.parse(text), expected, form);
    assert.ok(text.includes(result), form);
    assert.equal(text.split('"jsonrpc"').length, 2, form);
    assert.ok(!text.includes('"error"'), form);
    assert.equal(text.split('"id"').length, 2 + result.split('"id"').length - 1, form);
  }
});

test('a result that holds an error of null, or is null, passes as it is', () => {
  for (const result of ['{"error":null}', '{"a":1,"error":null}', '[{"a":1,"error":null}]', 'null']) {
    assert.equal(
      answer(`{"jsonrpc":"2.0","id":1,"result":${result}}`),
      `{"jsonrpc":"2.0","id":"mine","result":${result}}`,
    );
  }
});

test('an answer to another call is malformed', () => {
  for (const id of ['2', '10', '"2"', '[1]', 'false']) {
    for (const body of [
      `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`,
      `{"jsonrpc":"2.0","result":"0x1","id":${id}}`,
      `{"result":"0x1","id":${id},"jsonrpc":"2.0"}`,
      `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`,
    ]) {
      assert.throws(() => answer(body), { name: 'UpstreamError', reason: 'malformed' }, body);
    }
  }
  assert.throws(() => answer('{"jsonrpc":"2.0","result":"0x1"}'), { reason: 'malformed' });
  assert.match(answer('{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}'), /"code":1/);
});

test('errors pass with code, message and data, even if the node omits the id', () => {
  const error = '{"code":3,"message":"execution reverted: \\"no\\"","data":"0x08c379a0"}';
  for (const form of [
    `{"jsonrpc":"2.0","id":1,"error":${error}}`,
    `{"jsonrpc":"2.0","error":${error},"id":1}`,
    `{"jsonrpc":"2.0","error":${error},"id":null}`,
    `{"jsonrpc":"2.0","id":1,"result":null,"error":${error}}`,
  ]) {
    const text = answer(form, '42');
    assert.ok(text.includes(`"error":${error}`), form);
    assert.equal(JSON.parse(text).id, 42, form);
  }
});

test('a null result is a result', () => {
  assert.equal(answer('{"id":1,"result":null}', '1'), '{"jsonrpc":"2.0","id":1,"result":null}');
});

test('anything but a JSON-RPC answer is malformed', () => {
  for (const body of [
    '',
    '<html>',
    '[]',
    'null',
    '7',
    '{}',
    '{"id":1}',
    '{"error":"unauthorized"}',
    '{"jsonrpc":"2.0","id":1,"result":',
    '{"jsonrpc":"2.0","id":1,"error":null}',
  ]) {
    assert.throws(() => answer(body), { name: 'UpstreamError', reason: 'malformed' }, body);
  }
});

test('a result is parsed, an error has none, and an invalid result is malformed', () => {
  assert.deepEqual(resultOf(Buffer.from('"result":{"number":"0x1"}}')), { number: '0x1' });
  assert.equal(resultOf(Buffer.from('"result":null}')), null);
  assert.equal(resultOf(Buffer.from('"error":{"code":1}}')), undefined);
  assert.throws(() => resultOf(Buffer.from('"result":0x1}')), { name: 'UpstreamError', reason: 'malformed' });
});

test('the header of a block is read, none has neither null nor an error, and anything else is a node fault', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const block = { number: '0x7', hash, parentHash: hash, transactions: [] };
  const header = (result: unknown) =>
    headerIn({ tail: Buffer.from(`"result":${JSON.stringify(result)}}`), status: 200 });
  assert.deepEqual(header(block), { number: 7, hash, parentHash: hash });
  assert.equal(header(null), null);
  assert.equal(headerIn({ tail: Buffer.from('"error":{"code":1}}'), status: 200 }), null);
  for (const result of ['0x7', 7, [block], { ...block, parentHash: '0x' }]) {
    assert.throws(() => header(result), { name: 'UpstreamError', reason: 'malformed' });
  }
});

/** Texts of results, and whether the quick check recognises them. */
const BROKEN = [
  ['', true],
  ['0x1', true],
  ['{"a":}', false],
  ['{"a":[1}', false],
  ['{"a":1', true],
  ['[1,]', false],
  ['[{"a":1}', true],
  ['"a" "b"', true],
  ['"a"}{"result":"b"', true],
  ['{}}{"result":{}', true],
  ['"a\\"', true],
  ['"a\n"', false],
] as const;

test('a response tail that is not JSON is malformed', () => {
  for (const [text, shows] of BROKEN) {
    const tail = Buffer.from(`"result":${text}}`);
    const fault = { name: 'UpstreamError', reason: 'malformed' };
    assert.throws(() => checkResponseTail(tail), fault, text);
    if (shows) assert.throws(() => quickCheckResponseTail(tail), fault, text);
    else assert.doesNotThrow(() => quickCheckResponseTail(tail), text);
  }
});

test('every response tail that is valid JSON passes', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  for (const text of [
    'null',
    '-1.5e3',
    'true',
    '"0x1"',
    '"a\\"b"',
    '"}{"',
    '[]',
    '{"a":"}{"}',
    ' {} ',
    '" é"',
    deep,
  ]) {
    for (const tail of [`"result":${text}}`, `"result" : ${text} }`, `"result":${text},"extra":[1]}`]) {
      assert.doesNotThrow(() => checkResponseTail(Buffer.from(tail)), tail);
      assert.doesNotThrow(() => quickCheckResponseTail(Buffer.from(tail)), tail);
    }
  }
});
