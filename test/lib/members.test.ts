import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Prng } from '../../src/bench/chain/prng.ts';
import { keepMembers, Members } from '../../src/lib/members.ts';

type Rules = { [name: string]: Rules | 'whole' };

function toMembers(rules: Rules): Members {
  return new Members(
    Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, rule === 'whole' ? rule : toMembers(rule)]),
    ),
  );
}

function cut(text: string, rules: Rules): string {
  return keepMembers(Buffer.from(text), toMembers(rules)).toString();
}

/** What the rules mean, on values. */
function picked(value: unknown, rules: Rules): unknown {
  if (Array.isArray(value)) return value.map((item) => picked(item, rules));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return [];
    return [[name, rule === 'whole' ? member : picked(member, rule)]];
  });
  return Object.fromEntries(members);
}

const NAMES = ['a', 'b', 'hash', 'logs', 'result', 'x y', 'ü', ''];
const TEXTS = ['', '"', '\\', '\\"', '}{', '],[', '"a":1,', 'ü€😀', '0x1234', '\n\t', '\\\\'];
const SPACES = ['', '', '', ' ', '\n  ', '\t\r\n'];

/** JSON text in all the ways in which it can be written. */
function randomText(random: Prng, depth: number): string {
  const space = () => random.any(SPACES);
  const items = (make: () => string) =>
    Array.from({ length: random.below(5) }, () => space() + make() + space()).join(',') || space();
  const text = () => {
    const plain = JSON.stringify(random.any(TEXTS));
    return random.below(4) === 0 ? plain.replaceAll('a', '\\u0061') : plain;
  };
  switch (depth === 0 ? random.below(2) : random.below(6)) {
    case 0:
      return random.any(['0', '-1.5e+10', 'true', 'false', 'null']);
    case 1:
      return text();
    case 2:
      return `[${items(() => randomText(random, depth - 1))}]`;
    default:
      return `{${items(
        () => `${JSON.stringify(random.any(NAMES))}${space()}:${space()}${randomText(random, depth - 1)}`,
      )}}`;
  }
}

function randomRules(random: Prng, depth: number): Rules {
  const rules: Rules = {};
  for (const name of NAMES) {
    const kind = random.below(3);
    if (kind === 1) rules[name] = 'whole';
    if (kind === 2) rules[name] = depth === 0 ? 'whole' : randomRules(random, depth - 1);
  }
  return rules;
}

test('what is kept of a text is what is wanted of its value, however it is written', () => {
  const random = new Prng(7);
  let shorter = 0;
  for (let i = 0; i < 20_000; i++) {
    const rules = randomRules(random, 2);
    const text = random.any(SPACES) + randomText(random, 5) + random.any(SPACES);
    const left = cut(text, rules);
    assert.deepEqual(
      JSON.parse(left),
      picked(JSON.parse(text), rules),
      `${text} by ${JSON.stringify(rules)}`,
    );
    if (left.length < text.length) shorter++;
  }
  assert.ok(shorter > 5_000, `${shorter} texts were cut`);
});

test('an answer that breaks off does not become a whole one', () => {
  const text =
    '{"id":1,"gone":[{"x":"\\"}"},2] ,"result":[{"hash":"0x1","bloom":"0x2"},{"hash":null}], "more" : -1}';
  const rules: Rules = { id: 'whole', result: { hash: 'whole' } };
  assert.equal(cut(text, rules), '{"id":1,"result":[{"hash":"0x1"},{"hash":null}]}');
  for (let end = 0; end < text.length; end++) {
    assert.throws(() => JSON.parse(cut(text.slice(0, end), rules)), SyntaxError, text.slice(0, end));
  }
});

test('text that is no JSON stays none', () => {
  for (const text of [
    '',
    '<html>',
    '{"id":1 2}',
    '{"id" 1}',
    '{id:1}',
    '{"id":1}}',
    '[1,,2]',
    '{"a":1 "id":2}',
  ]) {
    assert.throws(() => JSON.parse(cut(text, { id: 'whole' })), SyntaxError, text);
  }
});

test('a member is known when its name is written with escapes', () => {
  const left = cut('{"\\u0069d":1,"more":2}', { id: 'whole' });
  assert.deepEqual(JSON.parse(left), { id: 1 });
});

test('a member may hold others like itself, as deep as a node nests them', () => {
  const frame = new Members({ to: 'whole' });
  frame.add('calls', frame);
  const nested = (depth: number, more: string) =>
    `${`{"to":1${more},"calls":[`.repeat(depth)}${']}'.repeat(depth)}`;
  const left = (depth: number) => keepMembers(Buffer.from(nested(depth, ',"gas":2')), frame).toString();
  assert.equal(left(50), nested(50, ''));
  assert.equal(left(100_000).match(/"to":1/g)?.length, 100_000);
});

test('two members of one name are a mistake', () => {
  assert.throws(() => new Members({ id: 'whole' }).add('id', 'whole'), /named twice/);
});
