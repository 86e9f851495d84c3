/** The facts about a transaction, side by side. */
import { Address, BlockLink, labelOf } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, grouped, percent, safeName, unitsToText } from '../../ui/format.ts';
import { TimeAndAge } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import type { Transaction } from './sentences.ts';

const GWEI_DECIMALS = 9;

export function TransactionFacts({ transaction }: { transaction: Transaction }) {
  const { blockNumber, timestamp, from, nonce, value, type } = transaction;
  return (
    <Facts
      facts={[
        { name: 'Status', value: <Status status={transaction.status} /> },
        blockNumber === null ? null : { name: 'Block', value: <BlockLink block={blockNumber} /> },
        timestamp === null ? null : { name: 'Time', value: <TimeAndAge iso={timestamp} /> },
        from === null
          ? null
          : { name: 'From', value: <Address address={from} label={labelOf(transaction, 'from')} /> },
        receiverFact(transaction),
        value === null ? null : { name: 'Value', value: <Amount text={value} symbol={COIN} /> },
        feeFact(transaction),
        gasFact(transaction),
        methodFact(transaction),
        nonce === null
          ? null
          : { name: 'Nonce', value: grouped(nonce), note: type === null ? null : `type ${type}` },
      ]}
    />
  );
}

const STATUS_TEXTS: Record<Transaction['status'], [text: string, tone: string]> = {
  succeeded: ['succeeded', 'in'],
  failed: ['failed: no value moved', 'out'],
  pending: ['pending', 'soft'],
  unknown: ['in a block', 'soft'],
};

function Status({ status }: Pick<Transaction, 'status'>) {
  const [text, tone] = STATUS_TEXTS[status];
  return <span class={tone}>{text}</span>;
}

function receiverFact(transaction: Transaction): Fact {
  const { to, createdContract } = transaction;
  if (to !== null) return { name: 'To', value: <Address address={to} label={labelOf(transaction, 'to')} /> };
  const label = labelOf(transaction, 'createdContract');
  return {
    name: 'Created contract',
    value: createdContract === null ? 'none' : <Address address={createdContract} label={label} />,
  };
}

function feeFact({ fee, gasPriceWei }: Transaction): Fact | null {
  const note =
    gasPriceWei === null ? null : `${unitsToText(BigInt(gasPriceWei), GWEI_DECIMALS)} gwei per gas`;
  if (fee !== null) return { name: 'Fee', value: <Amount text={fee} symbol={COIN} />, note };
  return note === null ? null : { name: 'Gas price', value: note };
}

function gasFact({ gasUsed, gasLimit }: Transaction): Fact | null {
  if (gasUsed === null)
    return gasLimit === null ? null : { name: 'Gas limit', value: grouped(Number(gasLimit)) };
  return {
    name: 'Gas used',
    value: grouped(Number(gasUsed)),
    note:
      gasLimit === null
        ? null
        : `${percent(Number(gasUsed) / Math.max(1, Number(gasLimit)))} of the limit ${grouped(Number(gasLimit))}`,
  };
}

function methodFact({ method, inputBytes }: Transaction): Fact {
  const note = inputBytes === 0 ? null : `${countText(inputBytes, 'byte')} of input`;
  if (method !== null)
    return { name: 'Method', value: <code>{safeName(method.name ?? method.selector, 40)}</code>, note };
  return { name: 'Method', value: 'none', note: note ?? 'a plain payment' };
}
