/** `atlas-node init`: the configuration file and the first key. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { IssuedKey } from '../access/key.ts';
import type { KeyStore } from '../access/keys.ts';
import { ConfigError, messageOf } from '../lib/errors.ts';
import { issuedText, withKeyStore } from './keys.ts';
import { addNotes, examples } from './options.ts';

/** The operator's own key: no limits. */
const FIRST_KEY = { name: 'first', tier: 'unlimited' };

const FOR_A_SERVICE = `The data goes to atlas-data in that folder. As a service (scripts/atlas-node.service) the \
daemon has its configuration in /etc/atlas-node and its data in /var/lib/atlas-node: write the first from \
config.example.toml, and issue keys with "atlas-node keys create --data-dir /var/lib/atlas-node".`;

export function addInit(program: Command): void {
  const command = program
    .command('init')
    .description('write atlas.toml, issue the first key, and print both')
    .option('--dir <dir>', 'folder to write to', '.')
    .addHelpText('after', examples('init', 'init --dir ~/atlas'))
    .action(({ dir }: { dir: string }) => init(resolve(dir)));
  addNotes(command, FOR_A_SERVICE);
}

async function init(dir: string): Promise<void> {
  const file = join(dir, 'atlas.toml');
  if (existsSync(file)) {
    throw new ConfigError(
      `${file} already exists and is left unchanged: remove it, or choose another folder with --dir`,
    );
  }
  const dataDir = join(dir, 'atlas-data');
  const text = configText(dataDir);
  const issued = await withKeyStore(
    dataDir,
    (store) => {
      writeNew(file, text);
      return firstKey(store, file);
    },
    { create: true },
  );
  console.log(
    `${file}:\n\n${text}\n${issuedText(issued)}\n\nnext: set node_http in it, then run: ${startLine(dir, file)}`,
  );
}

/** Creates the first key. On failure, removes the file, so that the next `init` can write it. */
function firstKey(store: KeyStore, file: string): IssuedKey {
  try {
    return store.create(FIRST_KEY);
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

function startLine(dir: string, file: string): string {
  return dir === process.cwd() ? 'atlas-node start' : `atlas-node start --config ${file}`;
}

/** Readable by its owner only, because the operator may add a token. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`cannot write ${file}: ${messageOf(error)}`);
  }
}

/** The settings that most installations change. data_dir is absolute, so that the working directory does not matter. */
export function configText(dataDir: string): string {
  return `# atlas-node. Every setting with its default: config.example.toml. In effect: atlas-node config show

# The chain node, over HTTP and WebSocket. With an empty node_ws, new blocks are polled.
node_http = "http://127.0.0.1:8545"
node_ws = ""

# index.db (may be deleted and rebuilt) and keys.db (may not) live here.
data_dir = ${JSON.stringify(dataDir)}

# Token of the operator's panel at /admin; empty turns it off.
admin_token = ""

[index]
# First block to index: "earliest", "latest" or a number.
start_block = "earliest"

[server]
# REST, RPC and both WebSockets. "0.0.0.0" opens them to other machines.
host = "127.0.0.1"
port = 8650
`;
}
