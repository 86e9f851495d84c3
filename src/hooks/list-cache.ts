/** Stored lists for streams: subscriptions that name the same list share one set. */
import type { HookStore } from './hook-store.ts';

export class ListCache {
  private readonly store: Pick<HookStore, 'readList' | 'listVersion'>;
  private readonly lists = new Map<string, { version: number; addresses: WeakRef<ReadonlySet<string>> }>();

  constructor(store: Pick<HookStore, 'readList' | 'listVersion'>) {
    this.store = store;
  }

  /** The addresses of a list as it is now; undefined if there is none of that name. */
  readonly get = (name: string): ReadonlySet<string> | undefined => {
    const version = this.store.listVersion(name);
    const known = this.lists.get(name);
    const addresses = known?.version === version ? known?.addresses.deref() : undefined;
    if (addresses !== undefined) return addresses;
    this.lists.delete(name);
    const read = version === undefined ? undefined : this.store.readList(name);
    if (read !== undefined && version !== undefined)
      this.lists.set(name, { version, addresses: new WeakRef(read) });
    return read;
  };
}
