/** Changes of keys that live in PostgreSQL. */
import { type AllowList, allowList } from '../access/allow-list.ts';
import {
  generateKey,
  type IssuedKey,
  type KeyChanges,
  type KeyRecord,
  type KeyRow,
  type KeySettings,
  keyName,
  type NewKeySettings,
  secretOf,
  storableNew,
  toRecord,
} from '../access/key.ts';
import type { KeyChange } from './key-table.ts';

export class SharedKeys implements KeyChanges {
  private readonly send: (change: KeyChange) => Promise<KeyRow>;

  /** `send` makes a change in PostgreSQL and in the cache; it rejects with RequestError when nothing was changed. */
  constructor(send: (change: KeyChange) => Promise<KeyRow>) {
    this.send = send;
  }

  async create(settings: NewKeySettings): Promise<IssuedKey> {
    const key = generateKey();
    const record = await this.change({ kind: 'create', ...secretOf(key), settings: storableNew(settings) });
    return { key, record };
  }

  async update(id: number, changes: Partial<KeySettings>): Promise<KeyRecord> {
    const { name, allow } = changes;
    return this.change({
      kind: 'update',
      id,
      changes: {
        ...changes,
        ...(name !== undefined && { name: keyName(name) }),
        ...(allow !== undefined && { allow: [...allowList(allow)] satisfies AllowList }),
      },
    });
  }

  async rotate(id: number): Promise<IssuedKey> {
    const key = generateKey();
    const record = await this.change({ kind: 'rotate', id, ...secretOf(key) });
    return { key, record };
  }

  revoke(id: number): Promise<KeyRecord> {
    return this.change({ kind: 'revoke', id });
  }

  private async change(change: KeyChange): Promise<KeyRecord> {
    return toRecord(await this.send(change));
  }
}
