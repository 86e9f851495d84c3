/** Contracts for tests, compiled when they are wanted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';
import type { Hex } from '../../../src/lib/hex.ts';

interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
}

/** Creation code by contract name, of a file in test/fixtures that imports nothing. */
export function compileFixture(name: string): Record<string, Hex> {
  const content = readFileSync(join(import.meta.dirname, '../../fixtures', name), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [name]: { content } },
    settings: { evmVersion: 'cancun', outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  };
  const output: Output = JSON.parse(solc.compile(JSON.stringify(input)));
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (problems.length > 0)
    throw new Error(problems.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return Object.fromEntries(
    Object.entries(output.contracts[name] ?? {}).map(([contract, { evm }]): [string, Hex] => [
      contract,
      `0x${evm.bytecode.object}`,
    ]),
  );
}
