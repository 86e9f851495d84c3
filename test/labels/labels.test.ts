import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Labels } from '../../src/labels/labels.ts';
import { AddressFilter, openLabelsFile } from '../../src/labels/labels-file.ts';
import { parseLabels } from '../../src/labels/parse-labels.ts';
import { hexToBytes } from '../../src/lib/hex.ts';
import { address } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const [A, B, C] = [address('a'), address('b'), address('c')];

function parse(text: string): unknown[] {
  return [...parseLabels(text, 'list.csv')].map(({ address, name, category, source }) => [
    address,
    name,
    category,
    source,
  ]);
}

test('a list is read from CSV with or without header, and from JSON', () => {
  const expected = [
    [A, 'Exchange, hot', 'exchange', 'list.csv'],
    [B, 'The "Bridge"', 'bridge', 'mine'],
    [C, 'C', 'other', 'list.csv'],
  ];
  assert.deepEqual(
    parse(`${A},"Exchange, hot",exchange,\r\n${B},"The ""Bridge""",Bridge,mine\n\n${C},C`),
    expected,
  );
  assert.deepEqual(
    parse(
      `\uFEFFname,Address,note,category,source\n"Exchange, hot",${A},x,exchange,\n"The ` +
        `""Bridge""",${B},,bridge,mine\nC,${C},,,\n`,
    ),
    expected,
  );
  const objects = [
    { address: A, name: 'Exchange, hot', category: 'exchange' },
    { address: B, name: 'The "Bridge"', category: 'bridge', source: 'mine', note: 1 },
    { address: C, name: 'C' },
  ];
  assert.deepEqual(parse(JSON.stringify(objects)), expected);
  assert.deepEqual(parse(''), []);
});

test('an invalid list is refused with the location of its first error', () => {
  const faults: Record<string, RegExp> = {
    [`${A},ok\n0x12,short`]: /^line 2: "0x12" is not an address/,
    'address;name\n': /^line 1: separate the columns with commas, not ";"/,
    [`${A},`]: /^line 1: a name has 1 to 100 characters/,
    [`${A},${'x'.repeat(101)}`]: /^line 1: a name has/,
    [`"two\nlines",x\n`]: /^line 1: /,
    [`${A},ok,cex`]: /^line 1: category "cex" is not one of exchange, bridge/,
    [`\n\n${A},ok\r${B},ok,cex`]: /^line 4: category "cex"/,
    [`${A},a"b,dex`]: /^line 1 has a quote in the wrong place/,
    [`[{"address":"${A}","name":"x"},7]`]: /^item 2 is not an object/,
    '[{': /not JSON/,
  };
  for (const [text, message] of Object.entries(faults)) {
    assert.throws(() => parse(text), { name: 'ConfigError', message }, text);
  }
});

test('a stray quote in a large list is refused with its line', () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `${A},name ${i}`);
  for (const [name, reason] of [
    ['"opened', /^line 5 has a quote in the wrong place/],
    ['"a"b', /^line 5 has a quote in the wrong place/],
    ['b"', /^line 5 has a quote in the wrong place/],
  ] as const) {
    const text = lines.with(4, `${A},${name}`).join('\n');
    assert.throws(() => parse(text), { name: 'ConfigError', message: reason }, name);
  }
  const closedLater = lines.with(4, `${A},"opened`).with(200_000, `${A},closed"`).join('\n');
  assert.throws(() => parse(closedLater), /^ConfigError: line 5: a name has 1 to 100 characters/);
});

function openPair(t: TestContext) {
  const path = join(tempDir(t), 'labels.db');
  const labels = new Labels(path);
  t.after(() => labels.close());
  return { path, labels };
}

test('an open reader sees changes by the command line within a second', async (t) => {
  const { path, labels } = openPair(t);
  assert.deepEqual([labels.isEmpty, labels.revision, labels.of(A)], [true, 0, undefined]);
  const file = openLabelsFile(path);
  t.after(() => file.close());
  file.import(parseLabels(`${A},Big Exchange,exchange\n${B},big bridge,bridge,bridges`, 'first'));
  await waitFor(() => !labels.isEmpty, { what: 'the labels to be read' });
  assert.deepEqual(labels.of(A), { name: 'Big Exchange', category: 'exchange', source: 'first' });
  assert.equal(labels.of(C), undefined);
  assert.deepEqual(
    labels.search('BIG', 5).map(({ address }) => address),
    [B, A],
  );
  const before = labels.revision;
  assert.equal(file.import(parseLabels(`${A.toUpperCase().replace('0X', '0x')},Renamed`, 'second')), 1);
  await waitFor(() => labels.revision > before, { what: 'the change to be seen' });
  assert.deepEqual(labels.of(A), { name: 'Renamed', category: 'other', source: 'second' });
  assert.deepEqual(labels.summary(), file.summary());
  assert.deepEqual(file.summary(), [
    { source: 'bridges', category: 'bridge', labels: 1 },
    { source: 'second', category: 'other', labels: 1 },
  ]);
  assert.equal(file.remove({ address: A }), 1);
  assert.equal(file.remove({ source: 'bridges' }), 1);
  assert.equal(file.remove('all'), 0);
  await waitFor(() => labels.isEmpty, { what: 'the removal to be seen' });
  assert.equal(labels.of(A), undefined);
});

test('an import that fails half-way changes nothing', (t) => {
  const { path, labels } = openPair(t);
  const file = openLabelsFile(path);
  t.after(() => file.close());
  file.import(parseLabels(`${A},Kept`, 'first'));
  assert.throws(() => file.import(parseLabels(`${A},Changed\n${B},bad,none`, 'second')), /line 2/);
  labels.refresh();
  assert.deepEqual([labels.of(A)?.name, labels.of(B)], ['Kept', undefined]);
});

test('a file that holds no labels is refused by the command, and ignored and reported by the reader', (t) => {
  const path = join(tempDir(t), 'labels.db');
  writeFileSync(path, 'not a database, '.repeat(100));
  assert.throws(() => openLabelsFile(path), /labels\.db/);
  const reports: unknown[] = [];
  const labels = new Labels(path, (error) => reports.push(error));
  t.after(() => labels.close());
  labels.refresh();
  assert.deepEqual([labels.of(A), labels.isEmpty, reports.length], [undefined, true, 1]);
});

test('the filter knows every address added, and few others', () => {
  const name = (i: number) => address(`filtered ${i}`);
  const filter = AddressFilter.forCount(2_000);
  for (let i = 0; i < 2_000; i++) filter.add(hexToBytes(name(i)));
  for (let i = 0; i < 2_000; i++) assert.ok(filter.mayHave(name(i)));
  let others = 0;
  for (let i = 2_000; i < 12_000; i++) if (filter.mayHave(name(i))) others++;
  assert.ok(others < 1_000, `${others} of 10,000`);
});
