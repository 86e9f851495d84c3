/** Recorded exchanges, answered by a scripted node and through the gateway, must be equal byte for byte. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { itemTexts, memberTexts } from '../../src/gateway/json-scan.ts';
import { serve } from '../server/serving.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';
import { startNode } from './node.ts';

interface Exchange {
  method: string;
  /** JSON texts, byte for byte as recorded. */
  params: string;
  outcome: string;
}

function exchangesOf(folder: string, name: string): Exchange[] {
  const text = gunzipSync(readFileSync(join(folder, 'cases', `${name}.exchanges.jsonl.gz`))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const members = memberTexts(line);
      const params = members.get('params') ?? 'null';
      const error = members.get('error');
      return {
        method: JSON.parse(members.get('method') ?? ''),
        params: params === 'null' ? '[]' : params,
        outcome: error === undefined ? `"result":${members.get('result')}` : `"error":${error}`,
      };
    });
}

/** The formats in which nodes write an answer: geth and anvil, Monad, geth's line end, chunks of any size. */
const FORMS: Record<string, (id: string, outcome: string) => string> = {
  'id first': (id, outcome) => `{"jsonrpc":"2.0","id":${id},${outcome}}`,
  'id first, line end': (id, outcome) => `{"jsonrpc":"2.0","id":${id},${outcome}}\n`,
  'id last': (id, outcome) => `{"jsonrpc":"2.0",${outcome},"id":${id}}`,
  'id last, spaced': (id, outcome) => `{ "jsonrpc" : "2.0" ,${outcome}, "id" : ${id} }\n`,
};

/** Ids of every JSON type, and spaced as some clients do. */
const IDS = ['1', '"a \\"b\\""', 'null', '-1.5e3', '12345678901234567890', '"0x1"', '"é"'];

for (const name of ['execution-apis', 'eth_getLogs-answers']) {
  for (const [form, write] of Object.entries(FORMS)) {
    test(`recorded ${name} pass byte for byte from a node that writes ${form}`, async (t) => {
      const folder = recordedDataOrSkip(t);
      if (folder === null) return;
      const exchanges = exchangesOf(folder, name);
      assert.ok(exchanges.length > 10);
      const outcomes = new Map(exchanges.map(({ method, params, outcome }) => [method + params, outcome]));
      const node = await startNode(t, (body, response) => {
        const members = memberTexts(body);
        const key = JSON.parse(members.get('method') ?? '') + members.get('params');
        const outcome = outcomes.get(key) ?? '"error":{"code":-32000,"message":"not recorded"}';
        const text = write(members.get('id') ?? 'null', outcome);
        if (key.length % 2 === 0) return response.end(text);
        // In chunks: without an announced length.
        for (let at = 0; at < text.length; at += 1000) response.write(text.slice(at, at + 1000));
        response.end();
      });
      // The recorded ranges are wider than a node with default settings accepts.
      const serving = await serve(t, {
        upstream: node.url,
        allow: ['debug_*'],
        rpc: { logs_node_range: 10_000 },
      });
      const post = async (body: string) =>
        Buffer.from(await (await serving.post('/rpc', body)).arrayBuffer());

      const request = (id: string, { method, params }: Exchange) =>
        `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
      for (const [i, exchange] of exchanges.entries()) {
        const id = IDS[i % IDS.length]!;
        const answer = (await post(request(id, exchange))).toString().trimEnd();
        assert.equal(answer, `{"jsonrpc":"2.0","id":${id},${exchange.outcome}}`, exchange.method);
      }
      const calls = exchanges.slice(0, 100);
      const batch = await post(
        `[${calls.map((exchange, i) => request(IDS[i % IDS.length]!, exchange)).join(', ')}]`,
      );
      assert.deepEqual(
        itemTexts(batch.toString()),
        calls.map(({ outcome }, i) => `{"jsonrpc":"2.0","id":${IDS[i % IDS.length]},${outcome}}`),
      );
    });
  }
}
