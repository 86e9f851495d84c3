/** Contracts for tests, compiled on first use. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import type { Hex } from '../../../src/lib/hex.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/atlas-node/solidity');

interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
}

/**
 * Creation code by contract name, of a file in test/fixtures without imports. Cached in a file, because loading the
 * compiler alone takes a second of CPU.
 */
export async function compileFixture(name: string): Promise<Record<string, Hex>> {
  const content = readFileSync(join(ROOT, 'test/fixtures', name), 'utf8');
  const version = manifest.devDependencies.solc;
  const file = join(CACHE, `${createHash('sha256').update(version).update(content).digest('hex')}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const code = await compile(name, content);
  // Other test processes may do the same at the same time.
  const aside = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(aside, JSON.stringify(code));
  renameSync(aside, file);
  return code;
}

async function compile(name: string, content: string): Promise<Record<string, Hex>> {
  const listeners = process.listeners('unhandledRejection');
  const { default: solc } = await import('solc');
  for (const listener of process.listeners('unhandledRejection')) {
    // The compiler's own, which would end the process.
    if (!listeners.includes(listener)) process.off('unhandledRejection', listener);
  }
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
