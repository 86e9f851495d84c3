import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { itemTexts, memberTexts } from '../../src/gateway/json-scan.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

/** Written with random spacing, so that offsets differ from those of JSON.stringify. */
function spaced(value: unknown, spaces: readonly string[]): string {
  let next = 0;
  const space = () => spaces[next++ % spaces.length] ?? '';
  const write = (part: unknown): string => {
    const text = Array.isArray(part)
      ? `[${space()}${part.map(write).join(',')}]`
      : part !== null && typeof part === 'object'
        ? `{${space()}${Object.entries(part)
            .map(([name, item]) => `${space()}${JSON.stringify(name)}${space()}:${write(item)}`)
            .join(',')}}`
        : JSON.stringify(part);
    return space() + text + space();
  };
  return write(value);
}

const spaces = fc.array(fc.constantFrom('', ' ', '\n', '\t ', '\r\n'), { minLength: 1, maxLength: 7 });

test('the members of any object are found whole', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), spaces, (object, space) => {
      const members = memberTexts(spaced(object, space));
      const plain = JSON.parse(JSON.stringify(object));
      assert.deepEqual(
        Object.fromEntries([...members].map(([name, text]) => [name, JSON.parse(text)])),
        plain,
      );
      for (const text of members.values()) assert.equal(text, text.trim());
    }),
  );
});

test('the items of any array are found whole', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), spaces, (array, space) => {
      const items = itemTexts(spaced(array, space));
      assert.deepEqual(
        items.map((text) => JSON.parse(text)),
        JSON.parse(JSON.stringify(array)),
      );
    }),
  );
});

test('numbers beyond 2^53, escapes and order are unchanged', () => {
  const text =
    '{"id":12345678901234567890.000,"\\u0069d2":"\\u00e9\\"}]","params":[1.0,-0,{"b":1,"a":"\\\\"}]}';
  const members = memberTexts(text);
  assert.equal(members.get('id'), '12345678901234567890.000');
  assert.equal(members.get('id2'), '"\\u00e9\\"}]"');
  assert.equal(members.get('params'), '[1.0,-0,{"b":1,"a":"\\\\"}]');
});

test('the last of a repeated name wins, as in JSON.parse', () => {
  assert.equal(memberTexts('{"id":1,"id":2}').get('id'), '2');
});
