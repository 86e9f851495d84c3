import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadWatch } from '../../src/writer/head-watch.ts';
import { startMisbehavingNode } from '../support/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

test('lost announcements are told once, however often they are tried again, and anew when they are lost anew', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const { wsUrl } = node;
  await node.close();
  const messages: string[] = [];
  const watch = new HeadWatch(wsUrl, 10, (message) => messages.push(message));
  t.after(() => watch.close());
  await new Promise((resolve) => setTimeout(resolve, 700)); // three tries
  assert.equal(messages.length, 1, messages.join('\n'));
  assert.match(messages[0]!, /ECONNREFUSED/);
  await node.listen();
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  node.drop();
  await waitFor(() => messages.length === 2, { what: 'the new loss' });
});
