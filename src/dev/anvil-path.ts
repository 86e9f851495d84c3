/** Finds anvil. The single binary has src/binary/anvil-path.ts instead. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { FatalError } from '../lib/errors.ts';

/** Path of the anvil binary for a platform. Throws a FatalError with advice if it is not installed. */
export function anvilPath(os: string = process.platform, arch: string = process.arch): string {
  const name = `@foundry-rs/anvil-${os}-${arch === 'x64' ? 'amd64' : arch}`;
  try {
    // The platform package is a dependency of the main one and need not be hoisted beside it.
    const main = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const manifest = createRequire(main).resolve(`${name}/package.json`);
    return join(dirname(manifest), 'bin', os === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new FatalError(
      `anvil, the local chain, is not installed (npm package ${name}): run \`npm run setup\` in the ` +
        `project, or use \`atlas-node start\` with a node of your own`,
      { cause },
    );
  }
}
