/** Starts the example bots, and gives them something to see. */
import { join } from 'node:path';
import { z } from 'zod';
import type { Anvil } from '../../src/dev/anvil.ts';
import { toQuantity } from '../../src/lib/hex.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { PINNED_NODE, ROOT, type Running, SOURCE_FLAGS, start } from '../support/daemon/command.ts';
import type { TestDaemon } from '../support/daemon/daemon.ts';
import { waitFor } from '../support/wait.ts';

export const EXAMPLES = join(ROOT, 'scripts/examples');
export const MON = 10n ** 18n;
export const ADMIN_TOKEN = 'operator token of the test';
const SOCKETS = z.object({ topics: z.record(z.string(), z.number()) });

export function startBot(owner: Cleanup, name: string, args: string[], env = {}): Running {
  const command = [PINNED_NODE, ...SOURCE_FLAGS, join(EXAMPLES, `${name}.ts`), ...args];
  return start(owner, command, { cwd: ROOT, env });
}

/** A bot's printed lines, once there are this many. */
export async function linesOf(bot: Running, count: number): Promise<string[]> {
  return waitFor(
    () => {
      const lines = bot.stdout().split('\n').slice(0, -1);
      return lines.length >= count ? lines : undefined;
    },
    { what: `${count} lines` },
  ).catch((cause) => {
    throw new Error(`it printed: ${bot.stdout()}${bot.stderr()}`, { cause });
  });
}

/** Resolves once this many sockets have subscribed to signals. */
export async function subscribed({ url }: TestDaemon, sockets: number): Promise<void> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  await waitFor(
    async () => {
      const answer = await fetch(`${url}/admin/api/sockets`, { headers });
      return SOCKETS.parse(await answer.json()).topics.signals === sockets;
    },
    { what: 'the bots to subscribe' },
  );
}

/** Sends native coins in a separate block. */
export async function send(anvil: Anvil, from: string, to: string, value: bigint): Promise<unknown> {
  return anvil.call('eth_sendTransaction', [{ from, to, value: toQuantity(value) }]);
}
