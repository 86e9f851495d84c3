/** Validating JSON that arrives in pieces must agree with JSON.parse, wherever the pieces end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonStreamValidator } from '../../src/gateway/json-stream-validator.ts';

const VALID = [
  '{"jsonrpc":"2.0","id":1,"result":[{"a":"0x1","b":[],"c":{}},{"d":null,"e":true,"f":false}]}',
  ' [ 1 , -0 , 0.5 , 1e9 , -1.25E-7 , 123456789012345678901234567890 ] \r\n',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00 é 😀"',
  '"a"',
  '0',
  'null',
  '[]',
  '{}',
  '[[[[[]]]]]',
  '{"a":{"b":{"c":[1,{"d":"}]"}]}}}',
];
const INVALID = [
  '',
  ' ',
  '{',
  '[',
  '[1',
  '[1,]',
  '[,1]',
  '[1 2]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '{1:1}',
  '{"a":1]',
  '[1}',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  'tru',
  'nulll',
  'NaN',
  '"a',
  '"\\x"',
  '"\\u12g4"',
  '"a\nb"',
  '{}{}',
  '[]]',
  '1 2',
  'null null',
  '"a" "b"',
  '{"a":1}}',
  '[\u00a01]',
];

/** Whether the text is accepted in pieces of this many bytes. */
function accepts(text: string, size: number): boolean {
  const bytes = Buffer.from(text);
  const check = new JsonStreamValidator();
  for (let at = 0; at < bytes.length; at += size) {
    if (!check.push(bytes.subarray(at, at + size))) return false;
  }
  return check.end();
}

test('agrees with JSON.parse, wherever the pieces end', () => {
  for (const [texts, expected] of [
    [VALID, true],
    [INVALID, false],
  ] as const) {
    for (const text of texts) {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      assert.equal(parses, expected, text);
      for (let size = 1; size <= text.length + 1; size++) {
        assert.equal(accepts(text, size), expected, `${text} in pieces of ${size} bytes`);
      }
    }
  }
});

test('a byte that is changed, dropped or doubled is judged as JSON.parse judges it', () => {
  const text = '{"a":[1,-2.5e3,"x\\u0041\\n"],"b":{"c":null,"d":true}}';
  for (let at = 0; at < text.length; at++) {
    for (const other of ['', text[at]! + text[at]!, ...'",:[]{}\\ 0e-nu\n']) {
      const corrupt = text.slice(0, at) + other + text.slice(at + 1);
      let parses = true;
      try {
        JSON.parse(corrupt);
      } catch {
        parses = false;
      }
      for (const size of [1, 3, 100]) assert.equal(accepts(corrupt, size), parses, corrupt);
    }
  }
});

test('values nested deeper than nodes nest them are refused', () => {
  assert.equal(accepts('['.repeat(250) + ']'.repeat(250), 64), true);
  assert.equal(accepts('['.repeat(300) + ']'.repeat(300), 64), false);
});
