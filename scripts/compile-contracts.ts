/**
 * Compiles the demo contracts of scripts/contracts to src/dev/contracts.json. Run it manually after a change there:
 * `node_modules/.bin/node --import tsx scripts/compile-contracts.ts`, then `npm run format`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import solc from 'solc';
import { readOptions } from './options.ts';

const SOURCES = fileURLToPath(new URL('./contracts/', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../src/dev/contracts.json', import.meta.url));

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: object[]; evm: { bytecode: { object: string } } }>>;
}

/** Per contract its ABI and creation bytecode. */
type Artifacts = Record<string, { abi: object[]; bytecode: string }>;

/** What contracts.json must contain for the current sources. */
export function compileContracts(): Artifacts {
  const files = readdirSync(SOURCES).filter((file) => file.endsWith('.sol'));
  const output = compile(files);
  const problems = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (problems.length > 0) throw new Error(problems.map((error) => error.formattedMessage).join('\n'));

  const artifacts: Artifacts = {};
  for (const file of files.sort()) {
    for (const [name, contract] of Object.entries(output.contracts[file] ?? {})) {
      artifacts[name] = { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
    }
  }
  return artifacts;
}

function compile(files: string[]): CompilerOutput {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      files.map((file) => [file, { content: readFileSync(join(SOURCES, file), 'utf8') }]),
    ),
    settings: {
      // Monad and every other supported chain run at least Cancun; OpenZeppelin 5 needs its MCOPY.
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      // Without the metadata hash of the sources, a changed comment does not change the bytecode.
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  return JSON.parse(solc.compile(JSON.stringify(input), { import: readPackageSource }));
}

function readPackageSource(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(createRequire(import.meta.url).resolve(path), 'utf8') };
  } catch (error) {
    return { error: String(error) };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readOptions('Compiles the demo contracts of scripts/contracts to src/dev/contracts.json.', {});
  writeFileSync(OUTPUT, `${JSON.stringify(compileContracts(), null, 2)}\n`);
}
