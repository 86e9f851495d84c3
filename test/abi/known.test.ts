/** The tables of known declarations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keccak256, parseAbi, stringToBytes } from 'viem/utils';
import { parseDeclaration } from '../../src/abi/declaration.ts';
import { KNOWN_ERRORS } from '../../src/abi/known/errors.ts';
import { KNOWN_EVENTS } from '../../src/abi/known/events.ts';
import { KNOWN_METHODS } from '../../src/abi/known/methods.ts';
import { readTable } from '../../src/abi/known/table.ts';

const TABLES = [
  { text: KNOWN_METHODS, word: 'function', digits: 8 },
  { text: KNOWN_EVENTS, word: 'event', digits: 64 },
  { text: KNOWN_ERRORS, word: 'error', digits: 8 },
];

test('each known declaration hashes to its place in the table, and is read as another library reads it', () => {
  for (const { text, word, digits } of TABLES) {
    const table = readTable(text);
    assert.ok(table.size > 60, `${table.size} entries for ${word}`);
    for (const [hash, declarations] of table) {
      assert.ok(declarations.length > 0, hash);
      for (const declaration of declarations) {
        const { name, signature, params } = parseDeclaration(declaration);
        assert.equal(keccak256(stringToBytes(signature)).slice(0, 2 + digits), hash, declaration);
        // Elsewhere the errors of Solidity itself have reserved names.
        if (signature === 'Error(string)' || signature === 'Panic(uint256)') continue;
        const lines: string[] = [`${word} ${declaration}`];
        const [item] = parseAbi(lines);
        assert.ok(item !== undefined && 'inputs' in item && 'name' in item, declaration);
        assert.equal(item.name, name);
        assert.deepEqual(
          params.map((param) => param.name),
          item.inputs.map((input) => input.name ?? ''),
        );
      }
    }
  }
});

test('no hash stands twice in a table, so that no declaration hides another', () => {
  for (const { text } of TABLES) {
    const hashes = [...text.matchAll(/^0x[0-9a-f]+/gm)].map(([hash]) => hash);
    assert.deepEqual(
      hashes.filter((hash, i) => hashes.indexOf(hash) !== i),
      [],
    );
  }
});

test('a declaration that is none is refused with the place of the mistake', () => {
  for (const [text, problem] of [
    ['', /a name is missing/],
    ['transfer', /\( is missing/],
    ['transfer(address to', /\) is missing/],
    ['transfer(adress to)', /adress is no type/],
    ['transfer(uint7 x)', /uint7 is no type/],
    ['transfer(bytes33 x)', /bytes33 is no type/],
    ['transfer(address,)', /a type is no type/],
    ['transfer(address) external', /something follows/],
    [`f(${'('.repeat(40)}uint256${')'.repeat(40)})`, /nested too deeply/],
    [`f(uint256${'[]'.repeat(40)})`, /nested too deeply/],
  ] as const)
    assert.throws(() => parseDeclaration(text), { name: 'SyntaxError', message: problem }, text);
});
