/** Entry point of a read thread: answers requests too expensive for the event loop, one at a time. */
import { Signatures } from '../../abi/signatures.ts';
import { Labels } from '../../labels/labels.ts';
import { codeOf, messageOf, ReorgedError, RequestError, stackOf } from '../../lib/errors.ts';
import { Snapshot } from '../../query/snapshot.ts';
import { WalletIdCache } from '../../query/wallet-id-cache.ts';
import { deadlineBudget } from '../../query/work-budget.ts';
import { openIndexForReading } from '../../store/index-file.ts';
import { thread } from '../../threads/thread.ts';
import { apiResult, type Endpoint, type EndpointHandler, notReady } from '../endpoint.ts';
import { ENDPOINTS } from '../endpoints/endpoints.ts';
import type { ApiResult, FromReader, ReaderOptions, ReadRequest } from './read-pool.ts';

/** Page cache of a read thread, MiB. Its reads are long and rarely repeated, so a larger cache would help little. */
const CACHE_MB = 8;

export default thread<ReaderOptions, ReadRequest, FromReader>(
  {},
  async (
    { indexPath, nativeSymbol, maxReorg, labelsPath, tradeLists, added },
    { onMessage, post, stopped },
  ) => {
    const db = openIndexForReading(indexPath, { cacheMb: CACHE_MB });
    const snapshot = new Snapshot(db);
    const labels = labelsPath === undefined ? undefined : new Labels(labelsPath);
    const source = {
      db,
      walletIds: new WalletIdCache(db, snapshot),
      nativeSymbol,
      maxReorg,
      labels,
      tradeLists,
      signatures: new Signatures(added),
    };
    const handlers = new Map<string, { endpoint: Endpoint; handler: EndpointHandler }>(
      ENDPOINTS.map((endpoint) => [endpoint.path, { endpoint, handler: endpoint.prepare(source) }]),
    );

    const handle = ({ path, input, chainDepth, nodeAnswer, deadline }: ReadRequest): ApiResult => {
      const found = handlers.get(path);
      if (found === undefined) throw new Error(`no such endpoint: ${path}`);
      try {
        labels?.refresh(); // the thread is often busy when its timer is due
        const head = snapshot.head();
        if (head === null) throw notReady();
        const context = { head, chainDepth, budget: deadlineBudget(deadline), nodeAnswer, unexamined: [] };
        const result = apiResult(found.endpoint, input, found.handler(input, context), context);
        snapshot.release();
        return result;
      } catch (error) {
        if (error instanceof RequestError) snapshot.release();
        else snapshot.discard();
        throw error;
      }
    };

    onMessage((request) => post(toReply(() => handle(request))));
    await stopped;
    labels?.close();
    db.close();
  },
);

/** Errors lose their class when posted to another thread, so send the relevant fields. */
function toReply(read: () => ApiResult): FromReader {
  try {
    return read();
  } catch (error) {
    if (error instanceof ReorgedError) {
      const { message, from, param = '' } = error;
      return { reorged: { message, from, param } };
    }
    if (error instanceof RequestError) {
      const { status, code, message, param } = error;
      return { requestError: { status, code, message, param } };
    }
    return { failure: { code: codeOf(error), message: messageOf(error), stack: stackOf(error) } };
  }
}
