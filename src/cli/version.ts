import manifest from '../../package.json' with { type: 'json' };
import { commit } from './build.ts';

/** Version of the program, as in package.json. */
export const version: string = manifest.version;

/** What `--version` prints: the single binary also names the commit it was built from. */
export const versionText = commit === null ? version : `${version} (commit ${commit})`;
