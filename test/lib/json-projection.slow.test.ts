import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProjected } from '../../src/lib/json-projection.ts';
import { LazyItems, LazyJsonArray, ObjectProjection, type Projection } from '../../src/lib/projection.ts';
import { Prng } from '../../src/lib/random.ts';

/** Rules in brackets apply to each item of a lazily parsed array. */
type Rule = Rules | [Rules] | 'whole';
type Rules = { [name: string]: Rule };

function toProjection(rule: Rule): Projection {
  if (rule === 'whole') return rule;
  return Array.isArray(rule) ? new LazyItems(toObjectProjection(rule[0])) : toObjectProjection(rule);
}

function toObjectProjection(rules: Rules): ObjectProjection {
  return new ObjectProjection(
    Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, toProjection(rule)])),
  );
}

/** The kept value of a text, with all items parsed. */
function kept(text: string, rules: Rules): unknown {
  return withoutItems(parseProjected(Buffer.from(text), toObjectProjection(rules)));
}

function withoutItems(value: unknown): unknown {
  if (value instanceof LazyJsonArray) return Array.from({ length: value.length }, (_, i) => value.at(i));
  if (Array.isArray(value)) return value.map(withoutItems);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutItems(member)]));
}

/** The meaning of the rules, applied to values. */
function picked(value: unknown, rules: Rules): unknown {
  if (Array.isArray(value)) return value.map((item) => picked(item, rules));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return [];
    if (rule === 'whole') return [[name, member]];
    if (!Array.isArray(rule)) return [[name, picked(member, rule)]];
    return [[name, Array.isArray(member) ? picked(member, rule[0]) : member]];
  });
  return Object.fromEntries(members);
}

const NAMES = ['a', 'b', 'hash', 'logs', 'result', 'x y', 'ü', ''];
const TEXTS = ['', '"', '\\', '\\"', '}{', '],[', '"a":1,', 'ü€😀', '0x1234', '\n\t', '\\\\'];
const SPACES = ['', '', '', ' ', '\n  ', '\t\r\n'];

/** JSON text in all its possible notations. */
function randomText(random: Prng, depth: number): string {
  const space = () => random.pick(SPACES);
  const items = (make: () => string) =>
    Array.from({ length: random.below(5) }, () => space() + make() + space()).join(',') || space();
  const text = () => {
    const plain = JSON.stringify(random.pick(TEXTS));
    return random.below(4) === 0 ? plain.replaceAll('a', '\\u0061') : plain;
  };
  switch (depth === 0 ? random.below(2) : random.below(6)) {
    case 0:
      return random.pick(['0', '-1.5e+10', 'true', 'false', 'null']);
    case 1:
      return text();
    case 2:
      return `[${items(() => randomText(random, depth - 1))}]`;
    default:
      return `{${items(
        () => `${JSON.stringify(random.pick(NAMES))}${space()}:${space()}${randomText(random, depth - 1)}`,
      )}}`;
  }
}

function randomRules(random: Prng, depth: number, itemsToo: boolean): Rules {
  const rules: Rules = {};
  for (const name of NAMES) {
    const inner = (items: boolean) => (depth === 0 ? {} : randomRules(random, depth - 1, items));
    const kind = random.below(5);
    if (kind === 1) rules[name] = 'whole';
    if (kind === 2) rules[name] = inner(itemsToo);
    if (kind === 3 && itemsToo) rules[name] = [inner(false)];
  }
  return rules;
}

test('the projection of a text equals the projection of its value, however it is written', () => {
  const random = new Prng(7);
  let shorter = 0;
  for (let i = 0; i < 20_000; i++) {
    const rules = randomRules(random, 2, true);
    const text = random.pick(SPACES) + randomText(random, 5) + random.pick(SPACES);
    const value: unknown = JSON.parse(text);
    const wanted = picked(value, rules);
    assert.deepEqual(kept(text, rules), wanted, `${text} by ${JSON.stringify(rules)}`);
    if (JSON.stringify(wanted).length < JSON.stringify(value).length) shorter++;
  }
  assert.ok(shorter > 5_000, `${shorter} texts were cut`);
});

test('a truncated answer is never accepted', () => {
  const text =
    '{"id":1,"gone":[{"x":"\\"}"},2] ,"result":[{"hash":"0x1","bloom":"0x2"},{"hash":null}], "more" : -1}';
  const result: Rules = { hash: 'whole' };
  for (const rules of [
    { id: 'whole', result },
    { id: 'whole', result: [result] },
  ] satisfies Rules[]) {
    assert.deepEqual(kept(text, rules), { id: 1, result: [{ hash: '0x1' }, { hash: null }] });
    for (let end = 0; end < text.length; end++) {
      assert.throws(() => kept(text.slice(0, end), rules), SyntaxError, text.slice(0, end));
    }
  }
});

test('text that is not JSON is refused', () => {
  for (const text of [
    '',
    '<html>',
    '{"id":1 2}',
    '{"id" 1}',
    '{id:1}',
    '{"id":1}}',
    '[1,,2]',
    '{"a":1 "id":2}',
    '{"list":[1 2]}',
    '{"list":[1',
    '{"list":[1}',
  ]) {
    assert.throws(() => kept(text, { id: 'whole', list: [{}] }), SyntaxError, text);
  }
});

test('an item whose text is not JSON is undefined', () => {
  assert.deepEqual(kept('{"list":[1,,{"a":nul},{"a":2},]}', { list: [{ a: 'whole' }] }), {
    list: [1, undefined, undefined, { a: 2 }, undefined],
  });
});

test('items keep their place, whatever surrounds them', () => {
  const rules: Rules = { list: [{ a: 'whole' }], deep: { list: [{ b: 'whole' }] } };
  const text =
    '[{"list":[{"a":1,"b":2}]},{"list":[],"deep":{"list":[ {"b":"ü"} , 7 ]}},{"list":null},{"list":{"a":[1]}}]';
  assert.deepEqual(kept(text, rules), [
    { list: [{ a: 1 }] },
    { list: [], deep: { list: [{ b: 'ü' }, 7] } },
    { list: null },
    { list: { a: [1] } },
  ]);
});

test('a member is recognised when its name contains escapes', () => {
  assert.deepEqual(kept('{"\\u0069d":1,"more":2}', { id: 'whole' }), { id: 1 });
});

interface Frame {
  calls: Frame[];
}

test('a member may nest itself as deep as a node does', () => {
  const frame = new ObjectProjection({ to: 'whole' });
  frame.add('calls', frame);
  const nested = (depth: number, more: string) =>
    `${`{"to":1${more},"calls":[`.repeat(depth)}${']}'.repeat(depth)}`;
  const left = (depth: number) => parseProjected(Buffer.from(nested(depth, ',"gas":2')), frame);
  assert.deepEqual(left(50), JSON.parse(nested(50, '')));
  let depth = 0;
  for (let at: Frame | undefined = left(100_000) as Frame; at !== undefined; at = at.calls[0]) depth++;
  assert.equal(depth, 100_000);
});

test('an answer of lists within lists is read, however deep', () => {
  const projection = new ObjectProjection({ list: new LazyItems(new ObjectProjection({ to: 'whole' })) });
  for (const depth of [500, 600, 5_000, 100_000]) {
    const text = `${'['.repeat(depth)}{"list":[0]}${']'.repeat(depth)}`;
    let value = parseProjected(Buffer.from(text), projection);
    for (let i = 0; i < depth; i++) value = Array.isArray(value) ? value[0] : undefined;
    const { list } = value as { list: unknown };
    assert.deepEqual(list instanceof LazyJsonArray ? [list.at(0)] : list, [0], `depth ${depth}`);
  }
});

test('two members of the same name are refused', () => {
  assert.throws(() => new ObjectProjection({ id: 'whole' }).add('id', 'whole'), /listed twice/);
});

test('items within items are refused', () => {
  assert.throws(
    () => new LazyItems(new ObjectProjection({ list: new LazyItems(new ObjectProjection({})) })),
    /cannot contain lazily parsed items/,
  );
});
