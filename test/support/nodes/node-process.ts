/** Replay nodes in their own processes, which can be killed and frozen. */
import type { Cleanup } from '../cleanup.ts';
import { PINNED_NODE, ROOT, SOURCE_FLAGS, start } from '../daemon/command.ts';
import { waitFor } from '../wait.ts';
import { resultOf } from './replay.ts';

const REPLAY_NODE = `${ROOT}scripts/simulator/replay-node.ts`;

export interface NodeProcess {
  url: string;
  wsUrl: string;
  /** False if it was killed or frozen. */
  isUp: boolean;
  head(): Promise<number>;
  setHead(number: number): Promise<number>;
  freeze(): void;
  thaw(): void;
  kill(): void;
}

/** Starts a node and waits until it answers. Equal arguments yield equal chains. */
export async function startNodeProcess(cleanup: Cleanup, args: readonly string[]): Promise<NodeProcess> {
  const command = [PINNED_NODE, ...SOURCE_FLAGS, REPLAY_NODE, '--port', '0', ...args];
  const { child, stdout } = start(cleanup, command, { cwd: ROOT });
  const url = await waitFor(() => /^replay-node on (\S+)/.exec(stdout())?.[1], { what: 'a replay node' });
  const signal = (name: NodeJS.Signals, isUp: boolean) => {
    node.isUp = isUp;
    child.kill(name);
  };
  const node: NodeProcess = {
    url,
    wsUrl: url.replace('http', 'ws'),
    isUp: true,
    head: async () => Number(await resultOf(url, 'eth_blockNumber')),
    setHead: async (number) => Number(await resultOf(url, 'replay_setHead', number)),
    freeze: () => signal('SIGSTOP', false),
    thaw: () => signal('SIGCONT', true),
    kill: () => signal('SIGKILL', false),
  };
  return node;
}
