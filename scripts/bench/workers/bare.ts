/** The worker that runs the bare server, the baseline for the real one. */
import { getByHexAddress } from '../../../src/query/wallets.ts';
import { type AddressKeys, WALLET_BY_ADDRESS } from '../../../src/store/addresses.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import type { Db } from '../../../src/store/open-database.ts';
import { type BareServer, startBareServer } from './bare-server.ts';

/** Page cache, MiB: the same as the daemon's reading connection. */
const CACHE_MB = 32;

export function bareActions() {
  let server: BareServer | null = null;
  const running = (): BareServer => {
    if (server === null) throw new Error('the bare server does not run');
    return server;
  };
  return {
    /** Starts the server, over an index if lookups are wanted. Resolves with its port. */
    async open({ indexPath }: { indexPath: string | null }): Promise<number> {
      const lookup =
        indexPath === null ? () => null : walletLookup(openIndexForReading(indexPath, { cacheMb: CACHE_MB }));
      server = await startBareServer({
        get: (query) => lookup(query.slice(query.indexOf('=') + 1)),
        post: () => '{}',
      });
      return server.port;
    },
    publish: (text: string): void => running().publish(text),
  };
}

/** The row of one address as JSON, null if there is none: one index lookup and nothing else. */
function walletLookup(db: Db): (address: string) => string | null {
  const statement = db.prepare<AddressKeys, object>(/* sql */ `
    SELECT w.id, w.transfers, w.transactions, w.tokens, w.token_transfers, w.internal_received, w.first_transfer,
      w.last_transfer, w.first_direct, w.first_internal, w.latest_direct, w.latest_internal, w.funder, w.funding,
      w.funded
    FROM ${WALLET_BY_ADDRESS}`);
  return (address) => {
    const row = getByHexAddress(statement, address);
    return row === undefined ? null : JSON.stringify(row);
  };
}
