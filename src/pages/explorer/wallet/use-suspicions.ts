/** The verdict on each transfer of a list, with the senders of the few transactions for which they matter. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Transfer } from '../../client/answers.ts';
import type { Api } from '../../client/api.ts';
import { useApi } from '../../client/use-answer.ts';
import { isCandidate, type Suspicion, suspicionOf, type WalletKnowledge } from './suspicion.ts';

/** Transactions asked for at a time: each counts against the key's rate. */
const BATCH = 20;

/** How long the list waits for the node: one that does not answer must not hold it up. */
const WAIT_MS = 2_000;

/** By transaction hash; null where the node did not say. */
type Senders = ReadonlyMap<string, string | null>;

interface Suspicions {
  of: (transfer: Transfer) => Suspicion | null;
  /** Whether the list can be shown without hiding rows of it later. */
  isReady: boolean;
}

/** `known` is null while it loads. */
export function useSuspicions(
  known: WalletKnowledge | null,
  transfers: readonly Transfer[] | undefined,
): Suspicions {
  const api = useApi();
  const [senders, setSenders] = useState<Senders>(new Map());
  const wasReady = useRef(false);
  const [isLate, setLate] = useState(false);
  const isLoaded = known !== null && transfers !== undefined;
  const candidates = isLoaded ? transfers.filter((transfer) => isCandidate(transfer, known)) : [];
  const missing = [...new Set(candidates.map(({ txHash }) => txHash))]
    .filter((hash) => !senders.has(hash))
    .slice(0, BATCH);
  useEffect(() => {
    if (missing.length === 0) return;
    const ending = new AbortController();
    const add = (found: Senders) => {
      if (!ending.signal.aborted) setSenders((before) => new Map([...before, ...found]));
    };
    readSenders(api, missing, ending.signal).then(add, () =>
      add(new Map(missing.map((hash) => [hash, null]))),
    );
    return () => ending.abort();
  }, [api, missing.join()]);
  useEffect(() => {
    if (!isLoaded || isLate) return;
    const timer = setTimeout(() => setLate(true), WAIT_MS);
    return () => clearTimeout(timer);
  }, [isLoaded, isLate]);
  // Rows that come later, with another page, must not hide the list again.
  wasReady.current =
    transfers !== undefined && (wasReady.current || (isLoaded && (missing.length === 0 || isLate)));
  return {
    isReady: wasReady.current,
    of(transfer) {
      if (known === null) return null;
      const sender = senders.get(transfer.txHash) ?? null;
      return suspicionOf(transfer, known, sender === null ? null : sender === known.wallet);
    },
  };
}

async function readSenders(api: Api, hashes: readonly string[], signal: AbortSignal): Promise<Senders> {
  const calls = hashes.map((hash, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_getTransactionByHash',
    params: [hash],
  }));
  const { data } = await api.send<{ id: number; result?: { from?: string } | null }[]>(
    'POST',
    '/rpc',
    JSON.stringify(calls),
    signal,
  );
  const from = (id: number) => data.find((reply) => reply.id === id)?.result?.from?.toLowerCase() ?? null;
  return new Map(hashes.map((hash, id) => [hash, from(id)]));
}
