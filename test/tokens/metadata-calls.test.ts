import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAbiParameters, pad, stringToHex } from 'viem';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import {
  decodeDecimals,
  decodeMetadata,
  decodeText,
  metadataCalls,
  sanitizeText,
} from '../../src/tokens/metadata-calls.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { address } from '../support/index/index-fixture.ts';

const text = (value: string) => encodeAbiParameters([{ type: 'string' }], [value]);
const word = (value: bigint) => pad(`0x${value.toString(16)}`);

test('a name is read from a string and from 32 bytes', () => {
  assert.equal(decodeText(text('Tether USD')), 'Tether USD');
  assert.equal(decodeText(text('')), '');
  assert.equal(decodeText(text('币安人生 🐋')), '币安人生 🐋');
  assert.equal(decodeText(stringToHex('Maker', { size: 32 })), 'Maker');
  assert.equal(decodeText(`${stringToHex('Two', { size: 32 })}${'00'.repeat(32)}`), 'Two', '64 bytes');
  assert.equal(decodeMetadata([pad('0x00'), undefined]).name, null);
});

test('reads a result that is not a string as no text', () => {
  const broken = [
    undefined,
    null,
    7,
    {},
    '',
    '0x',
    '0x0',
    '0xzz',
    'name',
    word(1n).slice(0, 60),
    `${word(32n)}${word(10n ** 30n).slice(2)}`,
    `${word(2n ** 255n)}${word(3n).slice(2)}`,
    text('cut short at the end of the word').slice(0, -2),
  ];
  for (const data of broken) assert.equal(decodeText(data), '', String(data));
});

test('decimals are a number from 0 to 255', () => {
  assert.deepEqual(
    [0n, 6n, 18n, 255n].map((value) => decodeDecimals(word(value))),
    [0, 6, 18, 255],
  );
  for (const data of [
    word(256n),
    word(2n ** 256n - 1n),
    '0x',
    '0x12',
    undefined,
    null,
    text('18').slice(0, 40),
  ]) {
    assert.equal(decodeDecimals(data), null);
  }
});

test('texts become one line without invisible characters, truncated at a character boundary', () => {
  const cases: [string, string | null][] = [
    ['  Plain  Name ', 'Plain Name'],
    ['two\nlines\r\n\there', 'two lines here'],
    ['\u0000\u0007bell\u001b[31m', 'bell[31m'],
    ['\u202Egnp.exe\u202C \u2066x\u2069', 'gnp.exe x'],
    ['a\u200Bb\u200Dc\uFEFF\u00AD', 'abc'],
    ['one\u2028two\u20293', 'one two 3'],
    ['\uD800lone', 'lone'],
    ['<script>alert(1)</script>', '<script>alert('],
    ['🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋', '🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋🐋'],
    ['\u0000\u202E \n', null],
    ['', null],
  ];
  for (const [raw, clean] of cases) assert.equal(sanitizeText(raw, 14), clean, JSON.stringify(raw));
});

test('a name of a megabyte is cut within milliseconds', () => {
  const data = text('N'.repeat(1_000_000));
  const began = cpuMs();
  assert.equal(decodeMetadata([data, data, undefined]).name, 'N'.repeat(128));
  assert.equal(decodeMetadata([data, data, undefined]).symbol, 'N'.repeat(64));
  assert.ok(cpuMs() - began < 2_000);
});

test('requests decimals of all contracts but ERC-1155, with bounded gas and at the newest state', () => {
  const token = { address: address('token') };
  assert.equal(metadataCalls({ ...token, kind: TransferKind.erc20 }).length, 3);
  assert.equal(metadataCalls({ ...token, kind: TransferKind.erc721 }).length, 3);
  assert.equal(metadataCalls({ ...token, kind: TransferKind.erc1155 }).length, 2);
  for (const { method, params } of metadataCalls({ ...token, kind: TransferKind.erc20 })) {
    assert.equal(method, 'eth_call');
    assert.match(JSON.stringify(params), /"to":"0x[0-9a-f]{40}".*"gas":"0x989680".*"latest"/);
  }
});
