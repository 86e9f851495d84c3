import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOfRows } from '../../src/pages/client/csv-rows.ts';

test('rows that are no list of the API are written as the API would', () => {
  const label = { name: 'A, B', category: 'person' };
  const rows = [
    { address: '0xab', amount: '5', symbol: '=1+1', fromLabel: label, tokenId: null },
    { address: '0xcd', amount: '-7', symbol: 'X', tokenId: '9', ids: [1, 2] },
  ];
  assert.equal(
    csvOfRows(rows),
    'address,amount,symbol,fromLabel,tokenId,ids\n' +
      `0xab,5,'=1+1,"{""name"":""A, B"",""category"":""person""}",,\n` +
      '0xcd,-7,X,,9,"[1,2]"\n',
  );
});
