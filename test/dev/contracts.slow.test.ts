import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileContracts } from '../../scripts/compile-contracts.ts';
import artifacts from '../../src/dev/contracts.json' with { type: 'json' };
import { abis } from '../../src/dev/contracts.ts';

test('contracts.json holds the compiled sources of scripts/contracts', () => {
  assert.deepEqual(artifacts, compileContracts());
});

/** Name, parameter types and payability of a function or constructor. */
function outline(item: object): string {
  const {
    type,
    name = '',
    inputs = [],
    stateMutability = '',
  } = item as {
    type: string;
    name?: string;
    inputs?: { type: string }[];
    stateMutability?: string;
  };
  return `${type} ${name}(${inputs.map((input) => input.type).join()}) ${stateMutability}`;
}

for (const [name, abi] of Object.entries(abis)) {
  test(`the calls made on ${name} are those it has`, () => {
    const compiled = Object.entries(artifacts).find(([contract]) => contract === name)?.[1].abi ?? [];
    const known = new Set(compiled.map(outline));
    for (const item of abi) assert.ok(known.has(outline(item)), outline(item));
  });
}
