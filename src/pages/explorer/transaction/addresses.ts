/** The addresses that a transaction's page shows, the most prominent first. */
import type { Transfer } from '../../client/answers.ts';
import type { Transaction } from './sentences.ts';

export function* addressesIn(
  transaction: Transaction | null,
  transfers: readonly Transfer[],
): Generator<string | null> {
  if (transaction !== null) {
    const { from, to, createdContract, trades, method, calls, failure, events } = transaction;
    yield* [from, to, createdContract];
    for (const { wallet } of trades ?? []) yield wallet;
    for (const { to } of calls ?? []) yield to;
    yield* addressesOf(method?.args);
    for (const call of calls ?? []) yield* addressesOf(call.method?.args);
    yield* addressesOf(failure?.error?.args);
    for (const { address } of events ?? []) yield address;
    for (const { from, to } of transfers) yield* [from, to];
    for (const { args } of events ?? []) yield* addressesOf(args);
  } else for (const { from, to } of transfers) yield* [from, to];
}

/** Of arguments at any depth: values of the type address are told by their form. */
function* addressesOf(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (/^0x[0-9a-f]{40}$/.test(value)) yield value;
  } else if (Array.isArray(value)) for (const item of value) yield* addressesOf(item);
  else if (typeof value === 'object' && value !== null && 'value' in value) yield* addressesOf(value.value);
}
