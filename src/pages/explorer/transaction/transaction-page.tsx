/** A transaction: its outcome and fee, its transfers as diagram and table, and its logs. */
import type { Answers } from '../../client/answers.ts';
import type { Exchange } from '../../client/api.ts';
import { ApiError } from '../../client/api-error.ts';
import type { NodeBlock, NodeLog, NodeReceipt, NodeTransaction } from '../../client/node-types.ts';
import { type Loaded, useLoaded } from '../../client/use-answer.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, BlockLink } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, grouped, hexTime, NATIVE_DECIMALS, percent, unitsToText } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { PageTitle } from '../page-title.tsx';
import { TransferTable } from '../transfer-table.tsx';
import { TransferFlow } from './transfer-flow.tsx';

interface Mined {
  transaction: NodeTransaction | null;
  receipt: NodeReceipt | null;
  block: NodeBlock | null;
}

const PAGE = 200;
const LOGS = 100;
const GWEI_DECIMALS = 9;

export function TransactionPage({ hash }: { hash: string }) {
  const facts = useLoaded<Mined>(`transaction ${hash}`, async (api, signal) => {
    const [transaction, receipt] = await Promise.all([
      api.rpc<NodeTransaction | null>('eth_getTransactionByHash', [hash], signal),
      api.rpc<NodeReceipt | null>('eth_getTransactionReceipt', [hash], signal),
    ]);
    const exchanges: Exchange[] = [transaction.exchange, receipt.exchange];
    const blockHash = transaction.data?.blockHash ?? null;
    if (blockHash === null)
      return { data: { transaction: transaction.data, receipt: null, block: null }, exchanges };
    const block = await api.rpc<NodeBlock | null>('eth_getBlockByHash', [blockHash, false], signal);
    return {
      data: { transaction: transaction.data, receipt: receipt.data, block: block.data },
      exchanges: [...exchanges, block.exchange],
    };
  });
  const isMined = facts.data?.transaction?.blockHash != null;
  return (
    <>
      <PageTitle kind="Transaction" text={hash} what="transaction hash" />
      <Section id="summary" title="Summary" note="As reported by the node." loaded={facts}>
        {({ transaction, receipt, block }) =>
          transaction === null ? (
            <p class="notice">
              The node does not have this transaction. It may belong to another chain, not be sent yet, or be
              older than what the node keeps.
            </p>
          ) : (
            <Facts facts={factsOf(transaction, receipt, block)} />
          )
        }
      </Section>
      {(isMined || facts.error !== null) && <Transfers hash={hash} />}
      {facts.data?.receipt != null && <Logs logs={facts.data.receipt.logs ?? []} facts={facts} />}
    </>
  );
}

type Transfer = Answers['transaction_transfers']['transfers'][number];

function Transfers({ hash }: { hash: string }) {
  const pages = usePages(
    `transaction_transfers ${hash}`,
    (api, cursor, signal) => api.get('transaction_transfers', { tx: hash, limit: PAGE, cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
  );
  const isUnknown = pages.error instanceof ApiError && pages.error.code === 'not_found';
  const shown = isUnknown ? { ...pages, data: [], error: null } : pages;
  return (
    <Section
      id="transfers"
      title="Transfers"
      note="In execution order, including internal transfers."
      loaded={shown}
    >
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

function factsOf(
  transaction: NodeTransaction,
  receipt: NodeReceipt | null,
  block: NodeBlock | null,
): (Fact | null)[] {
  const { from, to, value, nonce, gas } = transaction;
  const input = transaction.input ?? '0x';
  const made = receipt?.status === '0x1' ? receipt.contractAddress : null;
  const price = receipt?.effectiveGasPrice ?? transaction.gasPrice;
  const used = receipt?.gasUsed;
  return [
    { name: 'Status', value: <Status transaction={transaction} receipt={receipt} /> },
    block && {
      name: 'Block',
      value: <BlockLink block={Number(block.number)} />,
      note: <Time iso={hexTime(block.timestamp)} />,
    },
    { name: 'From', value: <Address address={from} />, note: nonce && `nonce ${grouped(Number(nonce))}` },
    to
      ? { name: 'To', value: <Address address={to} /> }
      : { name: 'Created contract', value: made ? <Address address={made} /> : 'none' },
    { name: 'Value', value: <Amount text={coins(BigInt(value))} symbol={COIN} /> },
    used && price
      ? {
          name: 'Fee',
          value: <Amount text={coins(BigInt(used) * BigInt(price))} symbol={COIN} />,
          note: `${unitsToText(BigInt(price), GWEI_DECIMALS)} gwei per gas`,
        }
      : null,
    used
      ? {
          name: 'Gas used',
          value: grouped(Number(used)),
          note: gas && `${percent(Number(used) / Number(gas))} of the limit ${grouped(Number(gas))}`,
        }
      : null,
    input.length >= 10
      ? {
          name: 'Method',
          value: <code>{input.slice(0, 10)}</code>,
          note: `${countText((input.length - 2) / 2, 'byte')} of input`,
        }
      : { name: 'Method', value: 'none', note: 'a plain payment' },
  ];
}

function Status({ transaction, receipt }: { transaction: NodeTransaction; receipt: NodeReceipt | null }) {
  if (transaction.blockHash == null) return <span class="soft">pending</span>;
  if (receipt?.status == null) return <>in a block</>;
  return receipt.status === '0x1' ? (
    <span class="in">succeeded</span>
  ) : (
    <span class="out">failed: no value moved</span>
  );
}

function Logs({ logs, facts }: { logs: readonly NodeLog[]; facts: Loaded<Mined> }) {
  return (
    <Section
      id="logs"
      title="Logs"
      note={`${countText(logs.length, 'event')} emitted by its contracts, named by first topic.`}
      loaded={{ ...facts, exchanges: [] }}
    >
      {() => (
        <>
          <Table
            caption="Logs of the transaction"
            columns={[
              { title: 'No.', number: true, cell: ({ logIndex }) => Number(logIndex) },
              { title: 'Contract', plain: true, cell: ({ address }) => <Address address={address} /> },
              {
                title: 'Event',
                plain: true,
                cell: ({ topics }) => {
                  const event = topics?.[0];
                  return event === undefined ? (
                    <span class="soft">anonymous</span>
                  ) : (
                    <span class="with-copy mono" title={event}>
                      {event.slice(0, 18)}…<Copy text={event} what="topic" />
                    </span>
                  );
                },
              },
              { title: 'Topics', number: true, cell: ({ topics }) => topics?.length ?? 0 },
              {
                title: 'Data',
                number: true,
                cell: ({ data }) => countText((data.length - 2) / 2, 'byte'),
              },
            ]}
            rows={logs.slice(0, LOGS)}
            rowKey={({ logIndex }) => logIndex}
            empty="No logs."
          />
          {logs.length > LOGS && (
            <p class="pager soft small">
              The first {LOGS} of {grouped(logs.length)}.
            </p>
          )}
        </>
      )}
    </Section>
  );
}

function coins(wei: bigint): string {
  return unitsToText(wei, NATIVE_DECIMALS);
}
