import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestMatch } from '../../src/lib/closest-match.ts';

test('a name is found despite its case, a typing error or the wrong table, and nothing for another word', () => {
  const known = ['node_http', 'server.port', 'index.max_reorg'];
  assert.equal(closestMatch('NODE_HTTP', known), 'node_http');
  assert.equal(closestMatch('Server.Prot', known), 'server.port');
  assert.equal(closestMatch('chain.max_reorg', known), 'index.max_reorg');
  assert.equal(closestMatch('colour', known), undefined);
});
