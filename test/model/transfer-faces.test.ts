/** Every field of a transfer is on every face that its definition names, without a list kept by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts';
import { sampleTransfer } from '../../src/api/fields.ts';
import { plainTransferRecord, transferRecord } from '../../src/api/transfer-record.ts';
import { TRANSFERS } from '../../src/export/block-tables.ts';
import { columnsOf, type Face, fieldsOf } from '../../src/model/transfer-fields.ts';
import { STREAMS_SECTION } from '../../src/server/pages/docs-streams.ts';
import { COLUMNS } from '../../src/sink/columns.ts';
import { asyncDocument, document } from '../support/clients/openapi.ts';

function namesOf(face: Face): string[] {
  return fieldsOf(face).map(({ name }) => name);
}

/** Fails unless the members are the fields, in any order. */
function assertFields(members: object, face: Face, what: string): void {
  assert.deepEqual(Object.keys(members).sort(), namesOf(face).sort(), what);
}

test('REST records, and the header of CSV', () => {
  const row = { ...sampleTransfer, uncertain: 1 as const }; // with the member that others lack
  assertFields(plainTransferRecord(row, 'MON'), 'plain', 'record');
  assertFields(transferRecord(row, '0x', 'both', 'MON'), 'rest', 'record of an address');
  const endpoint = ENDPOINTS.find(({ path }) => path === '/api/address_transfers');
  const [header = ''] = endpoint?.toCsv?.(endpoint.example.response).split('\r\n') ?? [];
  const titles = header.split(',').filter((title) => !title.endsWith('Label'));
  assert.deepEqual(titles, namesOf('rest'));
});

test('the schemas of OpenAPI and AsyncAPI', () => {
  const schemas: Record<string, { properties?: object }> = {
    ...document.components.schemas,
    ...asyncDocument.components.schemas,
  };
  const faces = {
    Transfer: 'rest',
    PlainTransfer: 'plain',
    WalletTransfer: 'transfer',
    WalletFunded: 'signal',
  } as const;
  for (const [schema, face] of Object.entries(faces)) {
    const { properties = {} } = schemas[schema] ?? {};
    for (const name of namesOf(face)) assert.ok(name in properties, `${schema}.${name}`);
  }
});

test('the columns of Parquet files and PostgreSQL tables', () => {
  const columns = (format: 'parquet' | 'postgres') => columnsOf(format).map(({ column }) => column.name);
  assert.deepEqual(
    TRANSFERS.columns.map(({ name }) => name),
    columns('parquet'),
  );
  assert.deepEqual(Object.keys(COLUMNS.transfers), columns('postgres'));
});

test('the events in the documentation', () => {
  for (const name of [...namesOf('transfer'), ...namesOf('signal')]) {
    const forms = [`&quot;${name}&quot;`, `"${name}"`, `<code>${name}</code>`];
    assert.ok(
      forms.some((form) => STREAMS_SECTION.includes(form)),
      name,
    );
  }
});
