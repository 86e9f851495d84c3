/** The JSON of events is written by hand for speed; it has the members that the documents list, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTokenTransfer, sampleTransfer } from '../../../src/api/fields.ts';
import { fieldsOf } from '../../../src/model/transfer-fields.ts';
import { TRANSFER_KINDS } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import { signalSchema, walletTransferSchema } from '../../../src/schemas/stream-records.ts';
import { sideSignal } from '../../../src/streams/transfers/signals.ts';
import type { TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { eventOf } from '../filters.ts';

type Form = Parameters<TransferEvent['notification']>[0];

const rows = TRANSFER_KINDS.map(
  ({ code, isNative, movesOne, hasTokenNumber }): EventRow => ({
    ...(isNative ? sampleTransfer : sampleTokenTransfer),
    uncertain: 1,
    kind: code,
    amount: movesOne ? '' : '0a',
    tokenNumber: hasTokenNumber ? '07' : '',
  }),
);

function payloadOf(event: TransferEvent, form: Form): object {
  const message = event.notification(form).messageFor(Buffer.alloc(34, '0')).toString();
  return JSON.parse(message).params.result;
}

for (const removed of [false, true]) {
  test(`events of wallet_transfers have exactly the members of their schema, removed: ${removed}`, () => {
    for (const row of rows) {
      const payload = payloadOf(eventOf(row, removed), 'in');
      walletTransferSchema.strict().parse(payload);
      for (const { name } of fieldsOf('transfer')) assert.ok(name in payload, name);
    }
  });

  test(`signals have exactly the members of their schema, removed: ${removed}`, () => {
    for (const row of rows) {
      for (const direction of ['in', 'out'] as const) {
        const payload = payloadOf(eventOf(row, removed), sideSignal(row, direction));
        const schema = signalSchema.options.find(
          ({ shape }) => shape.event.safeParse(Reflect.get(payload, 'event')).success,
        );
        assert.ok(schema !== undefined);
        schema.strict().parse(payload);
        for (const { name } of fieldsOf('signal')) assert.ok(name in payload, name);
      }
    }
  });
}
