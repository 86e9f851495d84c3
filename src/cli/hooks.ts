/** `atlas-node hooks`: webhooks on the command line. A running daemon sees each change within a second. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/parse-config.ts';
import type { HookStore } from '../hooks/hook-store.ts';
import { ConfigError, FatalError, RequestError } from '../lib/errors.ts';
import { dataFileExists, fileErrorReason } from '../lib/files.ts';
import { formatTable } from './format.ts';
import { withKeyStore } from './keys.ts';
import { addReport, examples, withDataFile } from './options.ts';

const ID_HELP = 'number of the hook, as shown by "hooks list"';

interface CreateOptions {
  url: string;
  name?: string;
  filter?: string;
  format?: string;
  chat?: string;
  confirmations?: number;
  finality?: boolean;
  fromBlock?: number;
  key?: number;
}

export function addHooks(program: Command): void {
  const hooks = program
    .command('hooks')
    .description('create, list, test, update, rotate, pause, resume and delete webhooks')
    .addHelpText(
      'after',
      examples(
        'hooks create --url https://example.org/in --filter @whales.json',
        'hooks list --json',
        'hooks test 1',
      ),
    );
  addCreate(hooks);
  addList(hooks);
  addTest(hooks);
  addUpdate(hooks);
  addRotate(hooks);
  addChange(hooks, 'pause', 'pause deliveries; events stay in the index', (store, id) =>
    store.pause(id, 'paused by the operator'),
  );
  addChange(hooks, 'resume', 'resume deliveries where the hook stopped', (store, id) => store.resume(id));
  addChange(hooks, 'delete', 'delete a hook permanently', (store, id) => store.delete(id));
}

function addCreate(hooks: Command): void {
  const command = hooks
    .command('create')
    .description('create a hook and show, once, the secret that verifies its deliveries')
    .requiredOption('--url <url>', 'URL that receives deliveries')
    .option('--name <name>', 'name of the hook')
    .option('--filter <json>', 'filter of events, as for atlas_subscribe: JSON, or @FILE')
    .option('--format <format>', 'json, slack, discord or telegram')
    .option('--chat <id>', 'telegram: the chat to post to')
    .option('--confirmations <n>', 'blocks required on top of the block of an event', parseInteger)
    .option('--finality', 'deliver only events of final blocks')
    .option('--from-block <n>', 'first replay indexed events from this block on', parseInteger)
    .option('--key <id>', 'API key that owns the hook; its tier limits the number of hooks', parseInteger)
    .addHelpText(
      'after',
      examples(
        'hooks create --url https://example.org/atlas',
        'hooks create --url https://example.org/in --filter @whales.json',
        'hooks create --url https://hooks.slack.com/... --format slack',
      ),
    );
  addReport(command, async (config, { filter, ...given }: CreateOptions) => {
    const { url, name, format, chat, confirmations, finality, fromBlock, key } = given;
    const options = { url, name, format, chat, confirmations, finality, fromBlock, key };
    const { parseHookSpec } = await import('../hooks/hook-spec.ts');
    const { hookJson } = await import('../hooks/hook-json.ts');
    const limit = options.key === undefined ? 0 : await hookLimit(config, options.key);
    const { head, trail } = await indexedHead(config);
    const hook = await withHookStore(
      config.data_dir,
      (store) => {
        const spec = { ...options, ...(filter !== undefined && { filter: readFilter(filter) }) };
        return store.create(parseHookSpec(spec, specContext(config, store)), head, limit, trail);
      },
      { create: true },
    );
    const text = `hook ${hook.id} (${hook.name}); its secret, shown this once:\n${hook.secret}`;
    return [text, { ...hookJson(hook), secret: hook.secret }];
  });
}

function addList(hooks: Command): void {
  const command = hooks
    .command('list')
    .description('list all hooks and their state')
    .addHelpText('after', examples('hooks list', 'hooks list --json'));
  addReport(command, async ({ data_dir }) => {
    const { hookJson } = await import('../hooks/hook-json.ts');
    const hooks = await withHookStore(data_dir, (store) => store.list().map(hookJson));
    const rows = hooks.map((hook) => [
      String(hook.id),
      hook.name,
      hook.url,
      hook.state === 'active' && hook.failures > 0 ? 'failing' : hook.state,
      String(hook.cursorBlock),
      String(hook.delivered),
      hook.reason ?? hook.lastError ?? '',
    ]);
    return [formatTable(['ID', 'NAME', 'URL', 'STATE', 'BLOCK', 'EVENTS', 'REASON'], rows), hooks];
  });
}

function addTest(hooks: Command): void {
  const command = hooks
    .command('test')
    .description('send an empty test delivery from here and show the answer of the receiver')
    .argument('<id>', ID_HELP, parseInteger)
    .addHelpText('after', examples('hooks test 1'));
  addReport(command, async (config, id: number) => {
    const hook = await withHookStore(config.data_dir, (store) => store.get(id));
    const { testMessage } = await import('../hooks/runner.ts');
    const { Sender } = await import('../hooks/sender.ts');
    const sender = new Sender({ allowPrivate: config.hooks.allow_private });
    const outcome = await sender.send(testMessage(hook));
    sender.close();
    if (outcome.kind === 'failed') throw new FatalError(`hook ${id} is not accepted: ${outcome.error}`);
    return [`hook ${id}: ${outcome.kind}`, { id, outcome: outcome.kind }];
  });
}

function addUpdate(hooks: Command): void {
  const command = hooks
    .command('update')
    .description(
      'change the URL or the filter of a hook; it continues where it is, with the same delivery ids',
    )
    .argument('<id>', ID_HELP, parseInteger)
    .option('--url <url>', 'URL that receives deliveries from now on, also those not accepted yet')
    .option('--filter <json>', 'filter of the events that follow: JSON, or @FILE')
    .addHelpText(
      'after',
      examples('hooks update 1 --url https://example.org/new', 'hooks update 1 --filter @whales.json'),
    );
  addReport(command, async (config, id: number, { url, filter }: { url?: string; filter?: string }) => {
    const { parseHookChange } = await import('../hooks/hook-spec.ts');
    const { hookJson } = await import('../hooks/hook-json.ts');
    if (url === undefined && filter === undefined) throw new ConfigError('set --url, --filter or both');
    const hook = await withHookStore(config.data_dir, (store) => {
      store.get(id);
      const change = { url, ...(filter !== undefined && { filter: readFilter(filter) }) };
      return store.update(id, parseHookChange(change, specContext(config, store)));
    });
    const paused = hook.state === 'paused' ? `; it is paused: hooks resume ${id}` : '';
    return [`updated hook ${id} (${hook.name})${paused}`, hookJson(hook)];
  });
}

function addRotate(hooks: Command): void {
  const command = hooks
    .command('rotate')
    .description('give a hook a new secret and show it, once; the old one also signs for a day')
    .argument('<id>', ID_HELP, parseInteger)
    .addHelpText('after', examples('hooks rotate 1'));
  addReport(command, async ({ data_dir }, id: number) => {
    const { hookJson } = await import('../hooks/hook-json.ts');
    const hook = await withHookStore(data_dir, (store) => store.rotate(id));
    const shown = hookJson(hook);
    const text =
      `hook ${id} (${hook.name}); its new secret, shown this once:\n${hook.secret}\n` +
      `Until ${shown.oldSecretUntil} the old secret signs its deliveries as well.`;
    return [text, { ...shown, secret: hook.secret }];
  });
}

function specContext({ hooks }: Config, store: HookStore) {
  return { lists: (name: string) => store.lists.read(name), allowPrivate: hooks.allow_private };
}

function addChange(
  hooks: Command,
  name: string,
  description: string,
  change: (store: HookStore, id: number) => { id: number; name: string },
): void {
  const command = hooks
    .command(name)
    .description(description)
    .argument('<id>', ID_HELP, parseInteger)
    .addHelpText('after', examples(`hooks ${name} 1`));
  addReport(command, async ({ data_dir }, id: number) => {
    const hook = await withHookStore(data_dir, (store) => change(store, id));
    return [`${name}d hook ${id} (${hook.name})`, { id, name: hook.name }];
  });
}

/** Parses the filter in a text, or in the file named after `@`. */
function readFilter(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : fileErrorReason(error);
    throw new ConfigError(`--filter must be JSON, or @ and a file with JSON, not ${text}: ${reason}`);
  }
}

/** `max_hooks` of a key's tier. */
function hookLimit({ data_dir, tiers }: Config, key: number): Promise<number> {
  return withKeyStore(data_dir, (store) => {
    const record = [...store.valid()].find(({ id }) => id === key);
    if (record === undefined) throw new ConfigError(`there is no valid key ${key}`);
    return (tiers[record.tier] ?? tiers.free)?.max_hooks ?? 0;
  });
}

/** The last block of the index and those below it; null while the index is empty. */
async function indexedHead({ data_dir, index }: Config) {
  const path = join(data_dir, 'index.db');
  if (!dataFileExists(path)) return { head: null, trail: null };
  const { openIndexForReading } = await import('../store/index-file.ts');
  const { readLastBlock } = await import('../store/chain.ts');
  const { IndexChain } = await import('../follower/index-chain.ts');
  const db = openIndexForReading(path);
  try {
    const read = () => {
      const head = readLastBlock(db);
      const trail = head && new IndexChain(db, index.max_reorg).trailBelow(head.number, head.number);
      return { head, trail };
    };
    return db.transaction(read)(); // of one commit
  } finally {
    db.close();
  }
}

function parseInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** What is wrong with a member of a hook, named by its flag. */
function asTyped({ message, param }: RequestError): string {
  if (param === undefined) return message;
  const flag = `--${param.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return message.startsWith(`${param} `) ? flag + message.slice(param.length) : `${flag}: ${message}`;
}

/** Runs `action` with the hooks, which must exist unless `create` is set, and closes them afterwards. */
export async function withHookStore<T>(
  dataDir: string,
  action: (store: HookStore) => T,
  { create = false } = {},
): Promise<T> {
  const missing =
    'create a hook or import a list, or name the folder with --data-dir, or the configuration with --config';
  const opener = async () => (await import('../hooks/hook-store.ts')).openHookStore;
  try {
    return await withDataFile(join(dataDir, 'hooks.db'), create ? null : missing, opener, action);
  } catch (error) {
    throw error instanceof RequestError ? new ConfigError(asTyped(error)) : error;
  }
}
