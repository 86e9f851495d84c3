import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, fieldsOf, TRANSFER_FIELDS } from '../../src/model/transfer-fields.ts';

test('the columns of Parquet files and PostgreSQL tables keep their order, because users’ files have it', () => {
  const names = (format: 'parquet' | 'postgres') =>
    columnsOf(format)
      .map(({ column }) => column.name)
      .join(' ');
  assert.equal(
    names('parquet'),
    'block_number block_timestamp tx_hash event_index log_index transfer_type from_address to_address ' +
      'token_address token_id amount id',
  );
  assert.equal(
    names('postgres'),
    'id block_number block_timestamp tx_hash event_index log_index transfer_type from_address to_address ' +
      'token_address amount token_id',
  );
});

test('each column has a place of its own, without gaps', () => {
  for (const format of ['parquet', 'postgres'] as const) {
    const places = columnsOf(format).map(({ column }) => column[format]);
    assert.deepEqual(
      places,
      places.map((_, i) => i + 1),
      format,
    );
  }
});

test('a name is one field, and every field appears somewhere', () => {
  assert.equal(new Set(TRANSFER_FIELDS.map(({ name }) => name)).size, TRANSFER_FIELDS.length);
  for (const { name, faces } of TRANSFER_FIELDS) assert.ok(faces.length > 0, name);
  assert.deepEqual(
    fieldsOf('rest')
      .map(({ name }) => name)
      .filter((name) => !fieldsOf('plain').some((field) => field.name === name)),
    ['direction'],
  );
});
