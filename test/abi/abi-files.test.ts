/** The ABI files of the operator. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadAbiFolder } from '../../src/abi/abi-files.ts';
import { Signatures } from '../../src/abi/signatures.ts';
import { tempDir } from '../support/temp-dir.ts';

const VAULT = [
  { type: 'constructor', inputs: [{ name: 'owner', type: 'address' }], stateMutability: 'payable' },
  { type: 'receive', stateMutability: 'payable' },
  { type: 'function', name: 'open', inputs: [], outputs: [], stateMutability: 'nonpayable' },
  {
    type: 'function',
    name: 'settle',
    inputs: [
      {
        name: 'orders',
        type: 'tuple[]',
        components: [
          { name: 'who', type: 'address' },
          { name: '', type: 'tuple', components: [{ name: 'amount', type: 'uint96' }] },
        ],
      },
    ],
  },
  { type: 'event', name: 'Opened', inputs: [{ name: 'by', type: 'address', indexed: true }] },
  { type: 'event', name: 'Hidden', anonymous: true, inputs: [] },
  { type: 'error', name: 'Closed', inputs: [{ name: 'since', type: 'uint64' }] },
];

function folderWith(t: TestContext, files: Record<string, string>): string {
  const folder = tempDir(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('the files of a folder name methods, events and errors, as lists and as artifacts', async (t) => {
  const folder = folderWith(t, {
    'vault.json': JSON.stringify({ contractName: 'Vault', abi: VAULT }),
    'other.json': `\uFEFF${JSON.stringify([VAULT[2]])}`,
    'notes.txt': 'not an ABI',
  });
  const added = await loadAbiFolder(folder);
  assert.deepEqual(
    added.map(({ kind, hash, declaration }) => [kind, hash.length, declaration]),
    [
      ['method', 10, 'open()'],
      ['method', 10, 'settle((address who, (uint96 amount))[] orders)'],
      ['event', 66, 'Opened(address indexed by)'],
      ['error', 10, 'Closed(uint64 since)'],
    ],
  );
  const signatures = new Signatures(added);
  assert.equal(signatures.methodOf('0xfcfff16f')?.name, 'open');
  const closed = added.find(({ kind }) => kind === 'error')?.hash;
  const data = `${closed}${'7'.padStart(64, '0')}`;
  assert.deepEqual(signatures.decodeError(data)?.args, [{ name: 'since', type: 'uint64', value: '7' }]);
});

test('without a folder there are none', async () => {
  assert.deepEqual(await loadAbiFolder(''), []);
});

test('a folder or file that cannot be used is named, with the reason', async (t) => {
  const bad = (text: string) => folderWith(t, { 'bad.json': text });
  const item = (value: unknown) => bad(JSON.stringify([value]));
  for (const [folder, reason] of [
    [join(tempDir(t), 'gone'), /explorer\.abi_dir: cannot read .*gone: /],
    [folderWith(t, { 'readme.md': '' }), /has no ABI files \(\*\.json\)/],
    [bad('{'), /bad\.json is not JSON/],
    [bad('{"abi":1}'), /bad\.json is no ABI/],
    [bad('null'), /bad\.json is no ABI/],
    [item(null), /bad\.json: item 1 is not an object/],
    [item({ type: 'function', inputs: [] }), /item 1: its name is missing/],
    [item({ type: 'function', name: 'f(', inputs: [] }), /item 1: /],
    [item({ type: 'function', name: 'f', inputs: {} }), /item 1: its parameters are no list/],
    [item({ type: 'function', name: 'f', inputs: [{ name: 'a' }] }), /item 1: a parameter has no type/],
    [item({ type: 'function', name: 'f', inputs: [{ type: 'uint7' }] }), /item 1: .*uint7 is no type/],
    [
      item({ type: 'function', name: 'f', inputs: [{ type: 'tuple' }] }),
      /item 1: its parameters are no list/,
    ],
  ] as const)
    await assert.rejects(loadAbiFolder(folder), { name: 'ConfigError', message: reason });
});

test('all files that cannot be used are named', async (t) => {
  const folder = folderWith(t, { 'a.json': '1', 'b.json': '[]', 'c.json': '[' });
  await assert.rejects(loadAbiFolder(folder), ({ mistakes }: { mistakes?: string[] }) => {
    assert.equal(mistakes?.length, 2);
    return true;
  });
});
