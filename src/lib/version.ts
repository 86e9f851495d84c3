/** The program's version. */
import manifest from '../../package.json' with { type: 'json' };
import { gitCommit } from './build.ts';

/** As in package.json. */
export const version: string = manifest.version;

/** The version shown to people; the single binary adds its commit. */
export const versionText = gitCommit === null ? version : `${version} (commit ${gitCommit})`;
