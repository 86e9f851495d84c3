/** `atlas-node start`: the daemon in the foreground, until a signal stops it. */
import type { Command } from 'commander';
import type { Loaded } from '../config/load.ts';
import { ConfigError, ListenError } from '../errors.ts';
import { addConfigOptions } from './options.ts';
import { outliveOutput } from './output.ts';
import type { Service } from './service.ts';
import { stopRequest } from './signals.ts';
import { showProgress } from './terminal.ts';

const EXAMPLES = `
Examples:
  $ atlas-node start --node-http http://127.0.0.1:8545 --node-ws ws://127.0.0.1:8546
  $ atlas-node start --config /etc/atlas-node/atlas.toml --data-dir /var/lib/atlas-node
  $ ATLAS_SERVER__PORT=9000 atlas-node start --start-block latest

All settings with their defaults: atlas-node config show`;

export function addStart(program: Command): void {
  const command = program
    .command('start')
    .description('index the chain and serve it')
    .addHelpText('after', EXAMPLES);
  const load = addConfigOptions(command);
  command.action(() => start(load));
}

async function start(load: () => Promise<Loaded>): Promise<void> {
  let service: Service | null = null;
  const stopping = new AbortController();
  const stop = stopRequest(() => service?.reload()).then(() => stopping.abort());
  const loaded = await load();
  const [{ logDefects }, { startService }] = await Promise.all([
    import('./defect.ts'),
    import('./service.ts'),
  ]);
  logDefects(loaded.config.log);
  service = await startService(loaded, load, stopping.signal).catch((error: unknown) => {
    throw withPlace(error, loaded);
  });
  if (service === null) return;
  const { daemon } = service;
  outliveOutput();
  console.log(readyLine(daemon.url));
  const endProgress = showProgress(() => daemon.status());
  try {
    await Promise.race([stop, service.ended]);
  } finally {
    endProgress();
    await service.close();
  }
}

/** Adds to a listen error where the setting of the address stands; returns every other error unchanged. */
function withPlace(error: unknown, { sources }: Loaded): unknown {
  if (!(error instanceof ListenError)) return error;
  const { setting, problem } = error;
  return new ConfigError(`${setting} (${sources[setting]}): ${problem}`, { cause: error });
}

/** The addresses a client needs, on one line. */
function readyLine(url: string): string {
  const sockets = url.replace(/^http/, 'ws');
  return `atlas-node is ready: REST ${url}/api  RPC ${url}/rpc  WebSocket ${sockets}/ws and ${sockets}/ws/signals`;
}
