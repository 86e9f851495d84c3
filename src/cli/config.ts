/** `atlas-node config check | show`. */
import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load-config.ts';
import { ConfigError } from '../lib/errors.ts';
import { addConfigOptions, examples } from './options.ts';

export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .description('check or print the configuration')
    .addHelpText('after', examples('config check', 'config show'));
  addCheck(config);
  addShow(config);
}

function addCheck(config: Command): void {
  const command = config
    .command('check')
    .description('validate the configuration and the files it refers to')
    .addHelpText('after', examples('config check', 'config check --config /etc/atlas-node/atlas.toml'));
  const load = addConfigOptions(command);
  command.action(async () => {
    const loaded = await load();
    const { checkPaths } = await import('../config/load-config.ts');
    checkPaths(loaded);
    const { loadAbiFolder } = await import('../abi/abi-files.ts');
    await loadAbiFolder(loaded.config.explorer.abi_dir);
    const { checkedQueries } = await import('../daemon/named-queries.ts');
    const queries = checkedQueries(loaded.config);
    const { tls_cert, tls_key } = loaded.config.server;
    if (tls_cert !== '') {
      const { certificateDateError, readTlsFiles } = await import('../server/http/listener.ts');
      const error = certificateDateError(tls_cert, readTlsFiles(tls_cert, tls_key).cert);
      if (error !== null) throw new ConfigError(error);
    }
    for (const { query, scanned, notes } of queries) {
      const name = `queries.${query.name}`;
      if (scanned.length > 0)
        console.log(`${name} reads all rows of ${scanned.join(', ')}: no condition leads to an index`);
      for (const note of notes) console.log(`${name}: ${note}`);
    }
    console.log(`the configuration is valid (${fileName(loaded)})`);
  });
}

function addShow(config: Command): void {
  const command = config
    .command('show')
    .description('print the effective configuration with the source of each setting, secrets masked')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      examples('config show', 'config show --port 9000', 'config show --json | jq \'."server.port"\''),
    );
  const load = addConfigOptions(command);
  command.action(async ({ json }: { json?: boolean }) => {
    const loaded = await load();
    const { printConfig, printConfigJson } = await import('../config/print.ts');
    console.log(json ? printConfigJson(loaded) : printConfig(loaded));
  });
}

function fileName({ file }: LoadedConfig): string {
  return file ?? 'no ./atlas.toml: defaults, environment and flags';
}
