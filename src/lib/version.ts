/** The program's version. */
import manifest from '../../package.json' with { type: 'json' };
import { gitCommit } from './build.ts';

/** From package.json. */
export const version: string = manifest.version;

/** The displayed version. The single binary adds its commit. */
export const versionText = gitCommit === null ? version : `${version} (commit ${gitCommit})`;
