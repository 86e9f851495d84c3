/** `atlas-node start`: the daemon in the foreground, until a signal stops it. */
import type { Command } from 'commander';
import type { LoadedConfig } from '../../config/load-config.ts';
import { ConfigError, ListenError } from '../../lib/errors.ts';
import { addConfigOptions } from '../options.ts';
import { ignoreOutputErrors } from '../output-errors.ts';
import { waitForStopSignal } from '../signals.ts';
import { showProgress } from '../terminal.ts';
import { leaveSoon } from './leave.ts';
import type { Service } from './service.ts';

const EXAMPLES = `
Examples:
  $ atlas-node start --node-http http://node:8545 --node-ws ws://node:8546
  $ atlas-node start --config /etc/atlas-node/atlas.toml --log-level warn
  $ ATLAS_SERVER__PORT=9000 atlas-node start --start-block latest

All settings with their defaults: atlas-node config show`;

export function addStart(program: Command): void {
  const command = program
    .command('start')
    .description('index the chain and serve the APIs')
    .addHelpText('after', EXAMPLES);
  const load = addConfigOptions(command);
  command.action(() => start(load));
}

async function start(load: () => Promise<LoadedConfig>): Promise<void> {
  let service: Service | null = null;
  /** A reload was requested during startup, when the file may have changed after it was read. */
  let mustReload = false;
  const stopping = new AbortController();
  const stop = waitForStopSignal(() => {
    if (service === null) mustReload = true;
    else service.reload();
  }).then(() => stopping.abort());
  const loaded = await load();
  const [{ logUncaughtErrors }, { startService }] = await Promise.all([
    import('../uncaught-errors.ts'),
    import('./service.ts'),
  ]);
  logUncaughtErrors(loaded.config.log);
  service = await startService(loaded, load, stopping.signal).catch((error: unknown) => {
    throw withSettingSource(error, loaded);
  });
  if (service === null) return leaveSoon(0); // the signal came before it was ready
  if (mustReload) service.reload();
  const { daemon, drain } = service;
  ignoreOutputErrors();
  console.log(readyLines(daemon.url, loaded.config.admin_token !== ''));
  const stopProgress = showProgress(() => daemon.status());
  try {
    await Promise.race([stop.then(drain), service.ended]);
  } finally {
    stopProgress();
    await service.close();
  }
  leaveSoon(0); // all is closed, and a failure would have thrown
}

/** Adds the source of the setting to a listen error; returns any other error unchanged. */
function withSettingSource(error: unknown, { sources }: LoadedConfig): unknown {
  if (!(error instanceof ListenError)) return error;
  const { setting, problem } = error;
  return new ConfigError(`${setting} (${sources[setting]}): ${problem}`, { cause: error });
}

/** The addresses for clients, then the pages for people. */
function readyLines(url: string, hasPanel: boolean): string {
  const sockets = url.replace(/^http/, 'ws');
  const panel = hasPanel ? `${url}/admin` : 'off (set admin_token)';
  return `atlas-node is ready: REST ${url}/api  RPC ${url}/rpc  WebSocket ${sockets}/ws and ${sockets}/ws/signals
  explorer ${url}/  panel ${panel}  docs ${url}/docs`;
}

/** The address in a text that contains the line, or undefined. */
export function readyUrl(text: string): string | undefined {
  return /is ready: REST (\S+)\/api /.exec(text)?.[1];
}
