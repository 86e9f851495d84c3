/** A transaction: what it did in words, its outcome and fee, its transfers, its method and its events. */
import { useEffect } from 'preact/hooks';
import type { Transfer } from '../../client/answers.ts';
import { ApiError } from '../../client/api-error.ts';
import { type Loaded, one, useLoaded } from '../../client/use-answer.ts';
import { type Pages, usePages } from '../../client/use-pages.ts';
import { countText, shortHex } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import { useOrderNote } from '../coverage.tsx';
import { NameProvider, useNames } from '../named.tsx';
import { PageTitle } from '../page-title.tsx';
import { TransferTable } from '../transfer-table.tsx';
import { addressesIn } from './addresses.ts';
import { Events } from './events.tsx';
import { Failure } from './failure.tsx';
import { Method } from './method.tsx';
import { plainText, type Sentence, sentencesOf, type Transaction } from './sentences.ts';
import { TransactionFacts } from './transaction-facts.tsx';
import { TransferFlow } from './transfer-flow.tsx';
import { Words } from './words.tsx';

const PAGE = 200;

/** Pause between two looks for a pending transaction. */
const PENDING_MS = 3_000;

/** Most characters of the first sentence in the title of the browser's tab. */
const TITLE_LENGTH = 80;

export function TransactionPage({ hash }: { hash: string }) {
  const facts = useLoaded<Transaction | null>(`transaction ${hash}`, async (api, signal) => {
    try {
      return one(await api.get('transaction', { tx: hash }, signal));
    } catch (error) {
      if (isNotFound(error)) return { data: null, exchanges: [] };
      throw error;
    }
  });
  const isMined = facts.data?.blockHash != null;
  const isPending = facts.data?.status === 'pending';
  useRepeated(facts, isPending);
  const transfers = usePages(
    `transaction_transfers ${hash} ${isPending ? 'pending' : ''}`,
    (api, cursor, signal) => api.get('transaction_transfers', { tx: hash, limit: PAGE, cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
    isMined || facts.error !== null,
  );
  const names = useNames(addressesIn(facts.data ?? null, transfers.data ?? []));
  const sentences =
    facts.data == null ? [] : sentencesOf(facts.data, knownTransfers(facts.data, transfers), names, COIN);
  const [first] = sentences;
  return (
    <NameProvider names={names}>
      <PageTitle
        kind="Transaction"
        text={hash}
        what="transaction hash"
        title={first && titleOf(plainText(first, names), hash)}
      />
      <Section id="summary" title="Summary" loaded={facts}>
        {(transaction) =>
          transaction === null ? (
            <p class="notice">
              The node does not have this transaction. It may belong to another chain, not be sent yet, or be
              older than what the node keeps.
            </p>
          ) : (
            <Summary transaction={transaction} sentences={sentences} />
          )
        }
      </Section>
      {(isMined || facts.error !== null) && <Transfers pages={transfers} />}
      {facts.data != null && facts.data.inputBytes > 0 && (
        <Section id="method" title="Method" loaded={{ ...facts, data: facts.data, exchanges: [] }}>
          {(transaction) => <Method transaction={transaction} />}
        </Section>
      )}
      {facts.data?.events != null && (
        <Section
          id="logs"
          title="Events"
          note={
            `${countText(facts.data.eventCount ?? 0, 'event')} emitted by its contracts, each in the ` +
            'words of its contract.'
          }
          loaded={{ ...facts, data: facts.data.events, exchanges: [] }}
          rows={facts.data.events}
        >
          {(events) => <Events events={events} count={facts.data?.eventCount ?? events.length} />}
        </Section>
      )}
    </NameProvider>
  );
}

/** Asks again while a condition holds, once each answer has been shown for a while. */
function useRepeated({ data, reload }: Pick<Loaded<unknown>, 'data' | 'reload'>, isWanted: boolean): void {
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(reload, PENDING_MS);
    return () => clearTimeout(timer);
  }, [data, reload, isWanted]);
}

function Summary({ transaction, sentences }: { transaction: Transaction; sentences: readonly Sentence[] }) {
  return (
    <>
      <Words sentences={sentences} />
      {transaction.failure !== null && <Failure failure={transaction.failure} />}
      <TransactionFacts transaction={transaction} />
    </>
  );
}

/** None where the index has none, so that the words follow from what the transaction is; undefined while they load. */
function knownTransfers({ status }: Transaction, pages: Pages<Transfer>): readonly Transfer[] | undefined {
  if (status === 'failed' || status === 'pending' || pages.error !== null) return [];
  return pages.data;
}

function Transfers({ pages }: { pages: Pages<Transfer> }) {
  return (
    <Section id="transfers" title="Transfers" note={useOrderNote()} loaded={pages}>
      {(transfers) => (
        <>
          <TransferFlow transfers={transfers} />
          <TransferTable
            caption="Transfers of the transaction"
            transfers={transfers}
            without={['Transaction', 'Block', 'Time']}
            empty="No transfers."
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found';
}

function titleOf(sentence: string, hash: string): string {
  const text = sentence.length > TITLE_LENGTH ? `${sentence.slice(0, TITLE_LENGTH)}…` : sentence;
  return `${text} · Transaction ${shortHex(hash)}`;
}
