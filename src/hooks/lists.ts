/** Named lists of addresses in `hooks.db`, for the filters of hooks and streams. */
import { RequestError } from '../lib/errors.ts';
import { bytesToDigits } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';

/** Most addresses per list, and over all lists. */
const MAX_LIST_ADDRESSES = 100_000;
const MAX_STORED_ADDRESSES = 1_000_000;

export class AddressLists {
  private readonly db: Db;
  private readonly cached = new Map<string, { version: number; addresses: WeakRef<ReadonlySet<string>> }>();

  constructor(db: Db) {
    this.db = db;
  }

  /** Creates or replaces a list. `addresses` are 40 hex digits each. Throws RequestError. */
  import(name: string, addresses: ReadonlySet<string>): void {
    if (!/^[\w.-]{1,64}$/.test(name))
      throw new RequestError(
        400,
        'invalid_params',
        'the name of a list has 1 to 64 letters, digits, ".", "-" or "_"',
      );
    if (addresses.size === 0 || addresses.size > MAX_LIST_ADDRESSES)
      throw new RequestError(400, 'invalid_params', `a list has 1 to ${MAX_LIST_ADDRESSES} addresses`);
    const stored = this.list().filter((list) => list.name !== name);
    const total = stored.reduce((sum, { addresses }) => sum + addresses, addresses.size);
    if (total > MAX_STORED_ADDRESSES)
      throw new RequestError(
        400,
        'invalid_params',
        `all lists together have at most ${MAX_STORED_ADDRESSES} addresses`,
      );
    this.db
      .prepare('REPLACE INTO lists (name, imported_at, addresses) VALUES (?, ?, ?)')
      .run(name, Date.now(), Buffer.from([...addresses].join(''), 'hex'));
  }

  list(): { name: string; addresses: number; importedAt: number }[] {
    return this.db
      .prepare<[], { name: string; addresses: number; importedAt: number }>(
        'SELECT name, length(addresses) / 20 AS addresses, imported_at AS importedAt FROM lists ORDER BY name',
      )
      .all();
  }

  /** Throws RequestError `not_found`, or `list_in_use` while a hook uses the list. */
  remove(name: string): void {
    const user = this.db
      .prepare<[], { id: number; name: string; filter: string }>(
        'SELECT id, name, filter FROM hooks ORDER BY id',
      )
      .all()
      .find(({ filter }) => JSON.parse(filter).wallets === `list:${name}`);
    if (user !== undefined)
      throw new RequestError(409, 'list_in_use', `hook ${user.id} (${user.name}) uses the list "${name}"`);
    const { changes } = this.db.prepare('DELETE FROM lists WHERE name = ?').run(name);
    if (changes === 0) throw new RequestError(404, 'not_found', `there is no list "${name}"`);
  }

  /** Import time of a list, Unix milliseconds. */
  private version(name: string): number | undefined {
    return this.db
      .prepare<[string], number>('SELECT imported_at FROM lists WHERE name = ?')
      .pluck()
      .get(name);
  }

  /** The addresses of a list, 40 hex digits each; undefined if no list has this name. */
  read(name: string): ReadonlySet<string> | undefined {
    const bytes = this.db
      .prepare<[string], Buffer>('SELECT addresses FROM lists WHERE name = ?')
      .pluck()
      .get(name);
    if (bytes === undefined) return undefined;
    const addresses = new Set<string>();
    for (let at = 0; at < bytes.length; at += 20) addresses.add(bytesToDigits(bytes.subarray(at, at + 20)));
    return addresses;
  }

  /** Like `read`, but subscriptions to the same list share one set. */
  readonly get = (name: string): ReadonlySet<string> | undefined => {
    const version = this.version(name);
    const cached = this.cached.get(name);
    const addresses = cached?.version === version ? cached?.addresses.deref() : undefined;
    if (addresses !== undefined) return addresses;
    this.cached.delete(name);
    const read = version === undefined ? undefined : this.read(name);
    if (read !== undefined && version !== undefined)
      this.cached.set(name, { version, addresses: new WeakRef(read) });
    return read;
  };
}
