import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isServiceName, readSearchText } from '../../src/model/search-text.ts';

const ADDRESS = `0x${'3f5ce5'.padEnd(34, '0')}36f0be`;
const OTHER = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;

const address = (of: string) => ({ kind: 'address', address: of });
const hash = { kind: 'hash', hash: HASH };
const block = (number: number, isBare = false) => ({ kind: 'block', number, isBare });
const part = (start: string, end = '') => ({ kind: 'addressPart', start, end });
const text = (of: string) => ({ kind: 'text', text: of });

const CASES: Record<string, Record<string, object>> = {
  'an address or a hash, however it was copied': {
    [ADDRESS]: address(ADDRESS),
    [ADDRESS.toUpperCase()]: address(ADDRESS),
    [ADDRESS.slice(2)]: address(ADDRESS),
    [`  "${ADDRESS}",\n`]: address(ADDRESS),
    [`(${HASH});`]: hash,
    [`“${HASH.slice(2).toUpperCase()}”`]: hash,
    [`see ${ADDRESS}.`]: address(ADDRESS),
    [`eip155:1:${ADDRESS}`]: address(ADDRESS),
    [`ethereum:${ADDRESS}@1?value=1`]: address(ADDRESS),
    [`${ADDRESS} ${OTHER}`]: text(`${ADDRESS} ${OTHER}`),
    [`${ADDRESS}0`]: text(`${ADDRESS}0`),
  },
  'a link to any explorer': {
    [`https://explorer.example/address/${ADDRESS}#tokentxns`]: address(ADDRESS),
    [`https://explorer.example/token/${ADDRESS}?a=${OTHER}`]: address(ADDRESS),
    [`explorer.example/tx/${HASH}?tab=logs`]: hash,
    [`https://explorer.example/nft/${ADDRESS}/5`]: address(ADDRESS),
    [`https://explorer.example/search?q=${ADDRESS}`]: address(ADDRESS),
    'https://explorer.example/block/123': block(123),
    'https://explorer.example/block/123?tab=txs#x': block(123),
    'explorer.example/block/countdown/99': block(99),
    [`https://explorer.example/block/${HASH}`]: hash,
    'https://explorer.example/blocks': text('https://explorer.example/blocks'),
  },
  'a block by its number': {
    '7': block(7, true),
    ' 1,234 ': block(1234, true),
    '1 234 567': block(1234567, true),
    '1\u202f234': block(1234, true),
    '1_234': block(1234, true),
    "1'234": block(1234, true),
    '12,34,567': block(1234567, true),
    '#123': block(123),
    '# 1,234': block(1234),
    'block 123': block(123),
    'Block #123': block(123),
    'block number: 1,234': block(1234),
    block123: block(123),
    'height 5': block(5),
    'block 0x7b': block(123),
    '999999999999999': block(999999999999999, true),
    '1234567890123456': text('1234567890123456'),
    '1,2': text('1,2'),
    '1,234_567': text('1,234_567'),
    '1.5': text('1.5'),
    '#': text('#'),
    'block party': text('block party'),
  },
  'a shortened address': {
    '0x3f5ce5…36f0be': part('3f5ce5', '36f0be'),
    '0x3F5c...f0bE': part('3f5c', 'f0be'),
    '0x3f5c..f0be': part('3f5c', 'f0be'),
    '0x3f*f0be': part('3f', 'f0be'),
    '0x3f5c': part('3f5c'),
    '0x3f5c…': part('3f5c'),
    [ADDRESS.slice(0, 41)]: part(ADDRESS.slice(2, 41)),
    '0x3f5': text('0x3f5'),
    '0xabcdefg': text('0xabcdefg'),
    [`${ADDRESS.slice(0, 32)}…${ADDRESS.slice(-10)}`]: text(`${ADDRESS.slice(0, 32)}…${ADDRESS.slice(-10)}`),
  },
  'any other text': {
    'Demo Exchange': text('Demo Exchange'),
    '"Demo Exchange"': text('Demo Exchange'),
    '""': text('""'),
    $: text('$'),
  },
};

for (const [what, cases] of Object.entries(CASES)) {
  test(`a search text is ${what}`, () => {
    for (const [input, subject] of Object.entries(cases))
      assert.deepEqual(readSearchText(input), subject, JSON.stringify(input));
  });
}

test('a name of a naming service is told from other texts with dots', () => {
  for (const name of ['vitalik.eth', 'pay.vitalik.eth', 'Söme-one.ETH', '🦊.eth', 'x.nad'])
    assert.ok(isServiceName(name), name);
  for (const text of ['eth', '.eth', 'a.b', 'Demo Exchange', 'two words.eth', 'yearn.finance'])
    assert.ok(!isServiceName(text), text);
});
