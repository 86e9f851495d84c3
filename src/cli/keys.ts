/** `atlas-node keys`: API keys on the command line. A running daemon sees each change within a second. */
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { AllowList } from '../access/allow-list.ts';
import { type IssuedKey, type KeyChanges, type KeyRecord, keyJson, monthText } from '../access/key.ts';
import type { KeyStore } from '../access/keys.ts';
import type { MonthlyUsage } from '../access/usage-tables.ts';
import type { Config } from '../config/parse-config.ts';
import { ConfigError, messageOf, RequestError } from '../lib/errors.ts';
import { isoToMilliseconds } from '../lib/time.ts';
import { formatTable } from './format.ts';
import { addReport, examples, parseKeyId, withDataFile } from './options.ts';

const ID_HELP = 'number of the key, as shown by "keys list"';

export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .description('create, list, change, revoke and rotate API keys, and show their usage')
    .addHelpText(
      'after',
      examples('keys create --name app --tier growth', 'keys list --json', 'keys revoke 3'),
    );
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
  addRotate(keys);
  addUpdate(keys);
  addUsage(keys);
}

function addCreate(keys: Command): void {
  const command = keys
    .command('create')
    .description('issue a key and show it once')
    .requiredOption('--name <name>', 'owner of the key')
    .requiredOption('--tier <tier>', 'tier: free, growth, pro, unlimited or one from the configuration')
    .option('--expires <when>', EXPIRES_HELP, parseExpiry)
    .option('--allow <entry>', ALLOW_HELP, addEntries)
    .addHelpText(
      'after',
      examples(
        'keys create --name app --tier growth',
        'keys create --name guest --tier free --expires 30d',
        'keys create --name web --tier pro --allow eth_call,"GET /api/*"',
        'keys create --name ci --tier free --json | jq -r .key',
        'keys create --name app --tier pro --data-dir /var/lib/atlas-node',
      ),
    );
  const create = async (config: Config, { json: _, ...settings }: NewKey & Json) => {
    assertTier(config, settings.tier);
    const issued = await changeKeys(config, (keys) => keys.create(newSettings(settings)), { create: true });
    return issuedReport(issued);
  };
  addReport(command, create, () => true);
}

function addList(keys: Command): void {
  const command = keys
    .command('list')
    .description('list all keys ever issued')
    .addHelpText('after', examples('keys list', 'keys list --json'));
  const list = async (config: Config) => {
    const records = await readKeys(config, (store) => store.list());
    return [recordsTable(records), records.map(keyJson)] as const;
  };
  addReport(command, list, hasSharedKeys);
}

function addRevoke(keys: Command): void {
  const command = keys
    .command('revoke')
    .description('invalidate a key permanently')
    .argument('<id>', ID_HELP, parseKeyId)
    .addHelpText('after', examples('keys revoke 3'));
  const revoke = async (config: Config, id: number) => {
    const record = await changeKeys(config, (keys) => keys.revoke(id));
    return [`key ${id} (${record.name}) is revoked`, keyJson(record)] as const;
  };
  addReport(command, revoke, hasSharedKeys);
}

function addRotate(keys: Command): void {
  const command = keys
    .command('rotate')
    .description('replace the secret of a key; the old one becomes invalid at once')
    .argument('<id>', ID_HELP, parseKeyId)
    .addHelpText('after', examples('keys rotate 3'));
  const rotate = async (config: Config, id: number) =>
    issuedReport(await changeKeys(config, (keys) => keys.rotate(id)));
  addReport(command, rotate, hasSharedKeys);
}

function addUpdate(keys: Command): void {
  const command = keys
    .command('update')
    .description('change name, tier, expiry or allow list of a key, but not its secret')
    .argument('<id>', ID_HELP, parseKeyId)
    .option('--name <name>', 'owner of the key')
    .option('--tier <tier>', 'tier of the key')
    .option('--expires <when>', EXPIRES_HELP, parseExpiry)
    .option('--allow <entry>', ALLOW_HELP, addEntries)
    .addHelpText(
      'after',
      examples(
        'keys update 3 --tier pro',
        'keys update 3 --expires never',
        'keys update 3 --allow eth_call,eth_blockNumber',
        'keys update 3 --allow all',
      ),
    );
  const update = async (config: Config, id: number, { json: _, ...changes }: Partial<NewKey> & Json) => {
    const { name, tier, expires, allow } = changes; // beside --data-dir and --config
    if (tier !== undefined) assertTier(config, tier);
    if ([name, tier, expires, allow].every((change) => change === undefined))
      throw new ConfigError('name what to change: --name, --tier, --expires or --allow');
    const record = await changeKeys(config, (keys) => keys.update(id, newSettings(changes)));
    const facts = `tier ${record.tier}, ${stateOf(record)}, may use ${allowText(record)}`;
    return [`key ${id}: ${record.name}, ${facts}`, keyJson(record)] as const;
  };
  addReport(command, update, hasSharedKeys);
}

const EXPIRES_HELP = 'expiry: 30d, 12h, a date such as 2027-01-31 (UTC), or never';

const ALLOW_HELP =
  'permitted use, repeatable: an endpoint ("GET /api/*"), a method (eth_call, eth_*, atlas_subscribe), or all';

/** Adds the entries of one `--allow`, separated by commas, to earlier ones. */
function addEntries(text: string, before: AllowList = []): AllowList {
  return [...before, ...text.split(',')];
}

interface Json {
  json?: boolean;
}

/** Key options of the command line. */
interface NewKey {
  name: string;
  tier: string;
  expires?: number | 'never';
  allow?: AllowList;
}

function newSettings<T extends Partial<NewKey>>({ expires, allow, ...rest }: T) {
  return {
    ...rest,
    ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires }),
    ...(allow !== undefined && { allow: withoutAll(allow) }),
  };
}

/** `all` is the empty list. Throws ConfigError when other entries contradict it. */
function withoutAll(allow: AllowList): AllowList {
  if (!allow.includes('all')) return allow;
  if (allow.length > 1) throw new ConfigError('--allow all permits everything: use it alone, or omit it');
  return [];
}

/** Unix milliseconds of a date, or of a duration from now. */
function parseExpiry(text: string): number | 'never' {
  if (text === 'never') return text;
  const [, count, unit] = /^(\d{1,4})([dh])$/.exec(text) ?? [];
  if (count !== undefined) return Date.now() + Number(count) * (unit === 'd' ? 24 : 1) * 3_600_000;
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? isoToMilliseconds(text) : Number.NaN;
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be like 30d, 12h, 2027-01-31 or never.');
  return time;
}

function addUsage(keys: Command): void {
  const command = keys
    .command('usage')
    .description('show requests by month, newest month first')
    .argument('[id]', ID_HELP, parseKeyId)
    .addHelpText('after', examples('keys usage', 'keys usage 3 --json'));
  const usage = async (config: Config, id: number | undefined) => {
    const { readUsage } = await import('../access/usage-tables.ts');
    const rows = await readKeys(config, (store) => {
      const records = store.list();
      if (id !== undefined && !records.some((record) => record.id === id)) {
        throw new ConfigError(`there is no key ${id}; "atlas-node keys list" shows all`);
      }
      return usageRows(readUsage(store.db, id), records);
    });
    return [usageTable(rows), rows] as const;
  };
  addReport(command, usage, hasSharedKeys);
}

function assertTier({ tiers }: Config, tier: string): void {
  if (Object.hasOwn(tiers, tier)) return;
  const known = Object.keys(tiers).join(', ');
  throw new ConfigError(
    `there is no tier "${tier}": choose one of ${known}, or name the configuration that has it with --config`,
  );
}

/** Keys and their usage as text. A key's secret is shown only once, when it is issued. */
export function issuedText({ key, record }: IssuedKey): string {
  return `key ${record.id} (${record.name}, tier ${record.tier}), shown this once:\n${key}`;
}

function issuedReport(issued: IssuedKey): readonly [string, unknown] {
  return [issuedText(issued), { key: issued.key, ...keyJson(issued.record) }];
}

function recordsTable(records: KeyRecord[]): string {
  return formatTable(
    ['ID', 'NAME', 'TIER', 'KEY', 'CREATED (UTC)', 'STATE', 'MAY USE'],
    records.map((key) => [
      String(key.id),
      key.name,
      key.tier,
      `${key.hint}...`,
      formatMinute(key.createdAt),
      stateOf(key),
      allowText(key),
    ]),
  );
}

/** One key in one month, as in the JSON output. */
interface UsageRow {
  month: string;
  id: number;
  name: string;
  requests: number;
}

/** Adds the names of the keys to the counts. */
function usageRows(usage: MonthlyUsage[], records: KeyRecord[]): UsageRow[] {
  const names = new Map(records.map((record) => [record.id, record.name]));
  return usage.map(({ key, month, requests }) => ({
    month: monthText(month),
    id: key,
    name: names.get(key) ?? '',
    requests,
  }));
}

function usageTable(rows: UsageRow[]): string {
  return formatTable(
    ['MONTH', 'ID', 'NAME', 'REQUESTS'],
    rows.map((row) => [row.month, String(row.id), row.name, row.requests]),
  );
}

function allowText({ allow }: KeyRecord): string {
  return allow.length === 0 ? 'all' : allow.join(', ');
}

function stateOf({ revokedAt, rotatedAt, expiresAt }: KeyRecord): string {
  if (revokedAt !== null) return `revoked ${formatMinute(revokedAt)}`;
  if (expiresAt !== null && expiresAt <= Date.now()) return `expired ${formatMinute(expiresAt)}`;
  const facts = [
    'valid',
    ...(rotatedAt === null ? [] : [`rotated ${formatMinute(rotatedAt)}`]),
    ...(expiresAt === null ? [] : [`expires ${formatMinute(expiresAt)}`]),
  ];
  return facts.join(', ');
}

/** Date and time to the minute, UTC. */
function formatMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

/** Whether PostgreSQL has the keys. Every command then creates `keys.db`, their cache, if it is missing. */
function hasSharedKeys({ access }: Config): boolean {
  return access.postgres !== '';
}

/** Changes keys where they are stored: in `keys.db`, or in PostgreSQL and then in `keys.db`, its cache. */
async function changeKeys<T>(
  config: Config,
  change: (keys: KeyChanges) => T | Promise<T>,
  { create = false } = {},
): Promise<T> {
  const { data_dir, access } = config;
  if (!hasSharedKeys(config)) return withKeyStore(data_dir, change, { create });
  const { openSharedKeys } = await import('../cluster/direct.ts');
  return withKeyStore(
    data_dir,
    async ({ db }) => {
      const shared = await openSharedKeys(access.postgres, db);
      try {
        return await change(shared.changes);
      } finally {
        await shared.close();
      }
    },
    { create: true },
  );
}

/** Reads keys. Brings shared ones up to date first; while PostgreSQL is unavailable, the cache must do. */
async function readKeys<T>(config: Config, read: (store: KeyStore) => T): Promise<T> {
  const { data_dir, access } = config;
  if (!hasSharedKeys(config)) return withKeyStore(data_dir, read);
  const { openSharedKeys } = await import('../cluster/direct.ts');
  return withKeyStore(
    data_dir,
    async (store) => {
      try {
        await (await openSharedKeys(access.postgres, store.db)).close();
      } catch (error) {
        console.error(`atlas-node: ${messageOf(error)}; showing the shared keys cached in keys.db`);
      }
      return read(store);
    },
    { create: true },
  );
}

/** Opens the keys file, which must exist unless `create` is set, runs `action` and closes the file. */
export async function withKeyStore<T>(
  dataDir: string,
  action: (store: KeyStore) => T | Promise<T>,
  { create = false } = {},
): Promise<T> {
  const missing =
    'issue a key with "atlas-node keys create", or name the folder with --data-dir, or the configuration with --config';
  const opener = async () => (await import('../access/keys.ts')).openKeyStore;
  try {
    return await withDataFile(join(dataDir, 'keys.db'), create ? null : missing, opener, action);
  } catch (error) {
    if (!(error instanceof RequestError && error.code === 'not_found')) throw error;
    throw new ConfigError(`${error.message}; "atlas-node keys list" shows all`);
  }
}
