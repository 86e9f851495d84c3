/** The worker that answers REST requests like the daemon's read thread, with and without cached pages. */
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { codeOf } from '../../../src/lib/errors.ts';
import { Snapshot } from '../../../src/query/snapshot.ts';
import { WalletIdCache } from '../../../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { apiInputs, nameOf } from '../load/api-requests.ts';
import { dropFromPageCache } from '../process/page-cache.ts';
import { ownUsage } from '../process/resource-usage.ts';
import type { SubjectSet } from '../setup/subjects.ts';

/** Page cache of a read thread, MiB. */
const CACHE_MB = 8;
const CHAIN_DEPTH = 10;

export interface AnswerTimes {
  endpoint: string;
  /** Milliseconds of each answer: with no page of the file cached anywhere, and repeated at once. */
  uncached: number[];
  cached: number[];
  /** Of the uncached answers: milliseconds of processor time, and bytes read. */
  cpu: number[];
  readBytes: number[];
  /** The codes of answers that failed. */
  failures: string[];
}

export function answersActions() {
  return {
    /**
     * Queries each endpoint up to `perEndpoint` times with different parameters. Leaves out queries that only a node
     * can answer.
     */
    measure({
      indexPath,
      subjects,
      widest,
      perEndpoint,
    }: {
      indexPath: string;
      subjects: SubjectSet;
      widest: boolean;
      perEndpoint: number;
    }): AnswerTimes[] {
      const asked = apiInputs(subjects, widest).filter(
        ({ endpoint }) => endpoint.askNode === undefined || endpoint.nodeParameter !== undefined,
      );
      return asked.map(({ endpoint, inputs }) => {
        const times: AnswerTimes = {
          endpoint: nameOf(endpoint.path),
          uncached: [],
          cached: [],
          cpu: [],
          readBytes: [],
          failures: [],
        };
        for (const input of inputs.slice(0, perEndpoint)) askTwice(indexPath, endpoint.path, input, times);
        return times;
      });
    },
  };
}

/** Queries on a new connection, whose cache is empty. */
function askTwice(indexPath: string, path: string, input: object, times: AnswerTimes): void {
  const endpoint = ENDPOINTS.find((each) => each.path === path)!;
  const db = openIndexForReading(indexPath, { cacheMb: CACHE_MB });
  try {
    const snapshot = new Snapshot(db);
    const handler = endpoint.prepare({
      db,
      walletIds: new WalletIdCache(db, snapshot),
      nativeSymbol: 'ETH',
      maxReorg: 128,
    });
    const budget = { ensure: () => undefined, spend: () => undefined };
    const answer = (): void => {
      const head = snapshot.head()!;
      try {
        JSON.stringify(handler(input, { head, chainDepth: CHAIN_DEPTH, budget, unexamined: [] }));
      } catch (error) {
        times.failures.push(codeOf(error));
      }
      snapshot.release();
    };
    dropFromPageCache(indexPath);
    const before = ownUsage();
    answer();
    const between = ownUsage();
    answer();
    const after = ownUsage();
    times.uncached.push((between.seconds - before.seconds) * 1000);
    times.cpu.push((between.cpu - before.cpu) * 1000);
    times.readBytes.push(between.read - before.read);
    times.cached.push((after.seconds - between.seconds) * 1000);
  } finally {
    db.close();
  }
}
