/** Which program this is. */
import manifest from '../package.json' with { type: 'json' };
import { gitCommit } from './build.ts';

/** As in package.json. */
export const version: string = manifest.version;

/** The version for people: the single binary also names the commit it was built from. */
export const versionText = gitCommit === null ? version : `${version} (commit ${gitCommit})`;
