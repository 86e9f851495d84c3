import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell, csvLine } from '../../src/lib/csv.ts';

test('a cell that starts like a formula, in full width too, is text', () => {
  for (const sign of ['=', '+', '-', '@', '\t', '\uFEFF', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20'])
    assert.equal(csvCell(`${sign}1+1`), `'${sign}1+1`, JSON.stringify(sign));
  assert.equal(csvCell('\r=1'), `"'\r=1"`);
  assert.equal(csvCell('\n=1'), `"'\n=1"`);
  assert.equal(csvCell('=HYPERLINK("http://x",1)'), `"'=HYPERLINK(""http://x"",1)"`);
});

test('numbers, times and other texts stay as they are, and nothing is empty', () => {
  const time = new Date('2026-01-02T03:04:05Z');
  assert.equal(
    csvLine([null, undefined, -5, -7n, '-12', '-1.5', 'a=b', '0xab', true, time, 'a,"b"']),
    ',,-5,-7,-12,-1.5,a=b,0xab,true,2026-01-02T03:04:05.000Z,"a,""b"""',
  );
});
