import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sender } from '../../src/hooks/sender.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { PINNED_NODE, ROOT, start } from '../support/daemon/command.ts';
import { codeBlock } from '../support/docs.ts';
import { freePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait.ts';

test('the receiver of the docs accepts signed deliveries and refuses forged ones', async (context) => {
  const cleanup = nestedCleanup(context);
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const port = await freePort();
  start(cleanup, [PINNED_NODE, '--input-type=module', '-e', codeBlock('js receiver')], {
    cwd: ROOT,
    env: { HOOK_SECRET: secret, PORT: String(port) },
  });
  const sender = new Sender({ allowPrivate: true });
  cleanup.after(() => sender.close());
  const url = `http://127.0.0.1:${port}/`;
  const body = JSON.stringify({ hook: 1, deliveries: [{ deliveryId: 'evt_1' }] });
  const outcome = await waitFor(
    async () => {
      const sent = await sender.send({ hook: 1, id: 'evt_1', url, secrets: [secret], body });
      return sent.kind === 'failed' && /ECONNREFUSED/.test(sent.error) ? undefined : sent;
    },
    { what: 'the receiver' },
  );
  assert.deepEqual(outcome, { kind: 'accepted' });
  const other = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;
  const forged = await sender.send({ hook: 1, id: 'evt_1', url, secrets: [other], body });
  assert.match(JSON.stringify(forged), /answered 401/);
});
