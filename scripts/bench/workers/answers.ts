/** The worker that answers REST requests like the daemon's read thread, with and without cached pages. */
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { codeOf } from '../../../src/lib/errors.ts';
import { Snapshot } from '../../../src/query/snapshot.ts';
import { WalletIdCache } from '../../../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { dropFromPageCache } from '../process/page-cache.ts';
import { ownUsage } from '../process/resource-usage.ts';

/** Page cache of a read thread, MiB. */
const CACHE_MB = 8;
const CHAIN_DEPTH = 10;

export interface AnswerTimes {
  endpoint: string;
  /** Milliseconds of each answer: with no page of the file cached anywhere. */
  uncached: number[];
  /** With cached pages, by a reader that knows nothing yet, and repeated at once. */
  warm: number[];
  cached: number[];
  /** Of the uncached answers: milliseconds of processor time, and bytes read. */
  cpu: number[];
  readBytes: number[];
  /** How many said that they are truncated. */
  truncated: number;
  /** The codes of answers that failed. */
  failures: string[];
}

interface AnswerUsage {
  ms: number;
  cpu: number;
  readBytes: number;
  truncated: boolean;
}

/** What an endpoint is asked. `name` is that of the figures. */
export interface Question {
  path: string;
  name: string;
  inputs: readonly object[];
}

export function answersActions() {
  return {
    /** Milliseconds of the first answer, uncached: in a new process its code is compiled too. */
    first({ indexPath, path, inputs: [input = {}] }: Question & { indexPath: string }): number {
      return askUncached(indexPath, path, input, []).ms;
    },

    /** Asks an endpoint with each of the inputs. */
    measure({ indexPath, path, name, inputs }: Question & { indexPath: string }): AnswerTimes {
      const times: AnswerTimes = {
        endpoint: name,
        uncached: [],
        warm: [],
        cached: [],
        cpu: [],
        readBytes: [],
        truncated: 0,
        failures: [],
      };
      for (const input of inputs) {
        const { ms, cpu, readBytes, truncated } = askUncached(indexPath, path, input, times.failures);
        times.uncached.push(ms);
        times.cpu.push(cpu);
        times.readBytes.push(readBytes);
        if (truncated) times.truncated++;
        const [warm, cached] = ask(indexPath, path, input, 2, times.failures);
        times.warm.push(warm!.ms);
        times.cached.push(cached!.ms);
      }
      return times;
    },
  };
}

function askUncached(indexPath: string, path: string, input: object, failures: string[]): AnswerUsage {
  dropFromPageCache(indexPath);
  return ask(indexPath, path, input, 1, failures)[0]!;
}

/** Asks so many times on a new connection, whose cache is empty. Adds the codes of answers that fail. */
function ask(
  indexPath: string,
  path: string,
  input: object,
  count: number,
  failures: string[],
): AnswerUsage[] {
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
    const usages: AnswerUsage[] = [];
    for (let i = 0; i < count; i++) {
      const before = ownUsage();
      const head = snapshot.head()!;
      let truncated = false;
      try {
        const answer = handler(input, { head, chainDepth: CHAIN_DEPTH, budget, unexamined: [] });
        JSON.stringify(answer);
        truncated = 'truncated' in answer && answer.truncated === true;
      } catch (error) {
        failures.push(codeOf(error));
      }
      snapshot.release();
      const after = ownUsage();
      usages.push({
        ms: (after.seconds - before.seconds) * 1000,
        cpu: (after.cpu - before.cpu) * 1000,
        readBytes: after.read - before.read,
        truncated,
      });
    }
    return usages;
  } finally {
    db.close();
  }
}
