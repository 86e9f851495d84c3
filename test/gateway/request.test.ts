import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest } from '../../src/gateway/request.ts';

function only(text: string) {
  const request = readRequest(text);
  assert.equal(request.kind, 'single');
  const call = request.kind === 'single' ? request.call : undefined;
  if (call === undefined || 'error' in call) return call;
  const { id, method, params, args } = call;
  return { id, method, params, args };
}

test('a call keeps the text of its id and parameters', () => {
  assert.deepEqual(
    only('{"jsonrpc":"2.0","id":1e3,"method":"eth_call","params":[ {"gas":10000000000000000000} ]}'),
    {
      id: '1e3',
      method: 'eth_call',
      params: '[ {"gas":10000000000000000000} ]',
      args: [{ gas: 10_000_000_000_000_000_000 }],
    },
  );
  for (const id of ['null', '"a b"', '-1.5', '0']) {
    assert.deepEqual(only(`{"jsonrpc":"2.0","id":${id},"method":"net_version"}`), {
      id,
      method: 'net_version',
      params: '[]',
      args: [],
    });
  }
  assert.deepEqual(only('{"jsonrpc":"2.0","method":"eth_chainId","params":null}'), {
    id: null,
    method: 'eth_chainId',
    params: '[]',
    args: [],
  });
});

test('a call that is not well-formed keeps its id in the refusal, if that is one', () => {
  const bad: [string, number, string][] = [
    ['{"id":7,"method":"eth_chainId"}', -32600, '7'],
    ['{"jsonrpc":"1.0","id":7,"method":"eth_chainId"}', -32600, '7'],
    ['{"jsonrpc":2.0,"id":7,"method":"eth_chainId"}', -32600, '7'],
    ['{"jsonrpc":"2.0","id":"x"}', -32600, '"x"'],
    ['{"jsonrpc":"2.0","id":"x","method":["eth_chainId"]}', -32600, '"x"'],
    ['{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":"0x1"}', -32602, '7'],
    ['{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":5}', -32602, '7'],
    ['{"jsonrpc":"2.0","id":{"x":[]},"method":"eth_chainId"}', -32600, 'null'],
    ['{"jsonrpc":"2.0","id":[1],"method":"eth_chainId"}', -32600, 'null'],
    ['{"jsonrpc":"2.0","id":true,"method":"eth_chainId"}', -32600, 'null'],
    ['{"jsonrpc":"2.0","id":false,"method":"eth_chainId"}', -32600, 'null'],
    ['{}', -32600, 'null'],
    ['7', -32600, 'null'],
    ['"text"', -32600, 'null'],
    ['null', -32600, 'null'],
  ];
  for (const [text, code, id] of bad) {
    const call = only(text);
    assert.ok(call !== undefined && 'error' in call, text);
    assert.deepEqual([call.error.code, call.id], [code, id], text);
  }
});

test('invalid JSON, an empty batch and a batch over the limit are refused as a whole', () => {
  const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  const code = (text: string) => {
    const request = readRequest(text);
    return request.kind === 'refused' ? request.error.code : request.kind;
  };
  for (const text of ['', '{', 'eth_chainId', '[1,]', `${call}${call}`])
    assert.equal(code(text), -32700, text);
  assert.equal(code('[]'), -32600);
  assert.equal(code(`[${Array(1_001).fill(call)}]`), -32600);
  assert.equal(code(`[${Array(10_001).fill(call)}, and so on`), -32600, 'it is not read to its end');
  assert.equal(code(`[${Array(1_000).fill(call)}]`), 'batch');
});

test('a batch keeps its order, including malformed calls', () => {
  const request = readRequest(
    '[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}, 5 ,[],{"jsonrpc":"2.0","id":2,"method":"eth_gasPrice"}]',
  );
  assert.equal(request.kind, 'batch');
  assert.deepEqual(
    request.kind === 'batch' &&
      request.calls.map((call) => ('error' in call ? call.error.code : call.method)),
    ['eth_chainId', -32600, -32600, 'eth_gasPrice'],
  );
});

test('a body of more values than calls have is not read to the end, however they are nested', () => {
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":${params}}`;
  const message = (text: string) => {
    const request = readRequest(text);
    return request.kind === 'refused' ? request.error.message : request.kind;
  };
  const many = Array(50_001);
  const bodies = [
    call(`[${many.fill('1')}`),
    call(`[[${many.fill('[]')}`),
    call(`[{"a":[{${many.fill('"b":{}')}`),
    `{${many.fill('"":1')}`,
    `[${call('[]')},${call(`[${many.fill('1')}`)}`,
    `[${call(`[${Array(30_000).fill('1')}]`)},${call(`[${Array(30_000).fill('1')}`)}`,
  ];
  for (const body of bodies) {
    assert.equal(message(body), 'invalid request: more than 50000 values in one body', body.slice(0, 80));
  }
  const slots = Array(14_000).fill(`"0x${'a'.repeat(64)}":"0x${'b'.repeat(64)}"`);
  assert.equal(message(call(`[{},"latest",{"0x0":{"stateDiff":{${slots}}}}]`)), 'single');
  assert.equal(message(`[${call(`[${Array(49_000).fill('1')}]`)}]`), 'batch');
});
