/** `atlas-node bench`: runs scripts/bench, which only a checkout has. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import type { Command } from 'commander';
import { FatalError } from '../lib/errors.ts';

const EXAMPLES = `
Examples:
  $ atlas-node bench --quick               check that every measure runs
  $ atlas-node bench --json bench.json     the standard run`;

/** Of the package tsx, which `npm run bench` installs first. */
const TYPESCRIPT_LOADER = 'node_modules/tsx/dist/loader.mjs';

export function addBench(program: Command): void {
  program
    .command('bench')
    .description('measure speed and size on this machine (from a checkout of the sources)')
    .argument('[options...]', 'options of the benchmark: npm run bench -- --help')
    .addHelpText('after', EXAMPLES)
    .allowUnknownOption()
    .action((options: string[]) => {
      // Located at run time, so that the single binary does not include it.
      const root = join(dirname(process.argv[1] ?? ''), '..');
      const [script, loader] = [join(root, 'scripts/bench/bench.ts'), join(root, TYPESCRIPT_LOADER)];
      if (isSea() || !existsSync(script) || !existsSync(loader))
        throw new FatalError('the benchmark runs from a checkout of the sources, with "npm run bench"');
      process.execve?.(
        process.execPath,
        [process.execPath, ...process.execArgv, '--import', loader, script, ...options],
        process.env,
      );
    });
}
