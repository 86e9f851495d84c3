/** The transactions of a block: who called what of whom, and with how many coins. */
import type { NodeBlock, NodeTransaction } from '../../client/node-types.ts';
import { type Loaded, useLoaded } from '../../client/use-answer.ts';
import type { Pages } from '../../client/use-pages.ts';
import { Address, TransactionLink } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { grouped, NATIVE_DECIMALS, unitsToText } from '../../ui/format.ts';
import { Arrow } from '../../ui/icons.tsx';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { COIN } from '../coin.ts';

export type Block = NodeBlock<NodeTransaction>;

/** Most transactions in the table. A block may have thousands. */
export const LISTED = 500;

/** Most selectors asked for. Those after them are shown by their digits. */
const MAX_SELECTORS = 100;

interface TransactionsProps {
  facts: Loaded<Block>;
  transfers: Pages<{ txHash: string }>;
}

export function Transactions({ facts, transfers }: TransactionsProps) {
  const listed = (facts.data?.transactions ?? []).slice(0, LISTED);
  const methods = useMethodNames(listed);
  const counts = new Map<string, number>();
  for (const { txHash } of transfers.data ?? []) counts.set(txHash, (counts.get(txHash) ?? 0) + 1);
  const isWhole = transfers.data !== undefined && transfers.more === null;
  const other = transfers.loading ? '…' : transfers.error !== null ? '–' : isWhole ? '0' : 'not loaded';
  const loaded = { ...facts, error: facts.error ?? transfers.error, exchanges: transfers.exchanges };
  return (
    <Section
      id="transactions"
      title="Transactions"
      loaded={loaded}
      rows={facts.data && listed.map((transaction) => rowOf(transaction, methods, counts))}
    >
      {({ transactions }) => (
        <>
          <Table
            caption="Transactions of the block"
            columns={columnsFor({ methods, counts, other })}
            rows={listed}
            rowKey={({ hash }) => hash}
            empty="No transactions."
          />
          {transactions !== null && transactions.length > LISTED && (
            <p class="pager soft small">
              The first {LISTED} of {grouped(transactions.length)}.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

/** For CSV. */
function rowOf(
  transaction: NodeTransaction,
  methods: TableContext['methods'],
  counts: TableContext['counts'],
): object {
  const { hash, from, to = null, value } = transaction;
  const selector = selectorOf(transaction);
  const method = selector === null ? null : (methods.get(selector) ?? selector);
  const coins = unitsToText(BigInt(value), NATIVE_DECIMALS);
  return { txHash: hash, method, from, to, value: coins, transfers: counts.get(hash) ?? null };
}

/** The names of methods by selector; none while they are loaded. */
function useMethodNames(transactions: readonly NodeTransaction[]): ReadonlyMap<string, string> {
  const selectors = [...new Set(transactions.map(selectorOf))]
    .filter((selector) => selector !== null)
    .slice(0, MAX_SELECTORS)
    .join();
  const loaded = useLoaded(`method_names ${selectors}`, async (api, signal) => {
    if (selectors === '') return { data: [], exchanges: [] };
    const { data } = await api.get('method_names', { selectors }, signal);
    return { data: data.methods, exchanges: [] };
  });
  return new Map(
    (loaded.data ?? []).flatMap(({ selector, name }) => (name === null ? [] : [[selector, name]])),
  );
}

/** Null for a payment and for a creation. */
function selectorOf({ to, input }: NodeTransaction): string | null {
  if (to == null || input == null || !/^0x[0-9a-f]{8}/i.test(input)) return null;
  return input.slice(0, 10).toLowerCase();
}

interface TableContext {
  methods: ReadonlyMap<string, string>;
  /** Transfers by transaction. */
  counts: ReadonlyMap<string, number>;
  /** Stands for the number of transfers of a transaction that is not in `counts`. */
  other: string;
}

function columnsFor({ methods, counts, other }: TableContext): Column<NodeTransaction>[] {
  return [
    { title: 'Transaction', plain: true, cell: ({ hash }) => <TransactionLink hash={hash} /> },
    {
      title: 'Method',
      plain: true,
      cell: (transaction) => <Method transaction={transaction} methods={methods} />,
    },
    { title: 'From', plain: true, side: 'from', cell: ({ from }) => <Address address={from} /> },
    { title: '', plain: true, tableOnly: true, cell: () => <Arrow /> },
    {
      title: 'To',
      plain: true,
      side: 'to',
      cell: ({ to }) => (to == null ? <span class="soft">new contract</span> : <Address address={to} />),
    },
    {
      title: 'Value',
      plain: true,
      number: true,
      cell: ({ value }) => <Amount text={unitsToText(BigInt(value), NATIVE_DECIMALS)} symbol={COIN} />,
    },
    {
      title: 'Transfers',
      number: true,
      cell: ({ hash }) => {
        const count = counts.get(hash);
        return count !== undefined ? (
          grouped(count)
        ) : (
          <span class={other === '0' ? '' : 'soft'}>{other}</span>
        );
      },
    },
  ];
}

function Method({ transaction, methods }: { transaction: NodeTransaction } & Pick<TableContext, 'methods'>) {
  const selector = selectorOf(transaction);
  if (selector === null) return <span class="soft">{transaction.to == null ? 'creation' : 'payment'}</span>;
  return (
    <code class="method break" title={selector}>
      {methods.get(selector) ?? selector}
    </code>
  );
}
