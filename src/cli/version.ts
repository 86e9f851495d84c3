/** `atlas-node version`: the components of this program, for bug reports and for scripts that compare installations. */
import type { Command } from 'commander';
import { gitCommit } from '../lib/build.ts';
import { version, versionText } from '../lib/version.ts';
import { examples } from './options.ts';

interface VersionInfo {
  version: string;
  /** The commit that a released program was built from, with `-dirty` when files had changed; null from a checkout. */
  commit: string | null;
  /** The schema version of index.db that this program writes. */
  schema: number;
  platform: string;
  /** Versions of the runtimes inside. */
  runtimes: { node: string; v8: string; sqlite: string };
}

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version, or with --json also schema and runtimes')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('version', 'version --json | jq .schema'))
    .action(async ({ json }: { json?: boolean }) => {
      console.log(json ? JSON.stringify(await versionInfo(), null, 2) : versionText);
    });
}

async function versionInfo(): Promise<VersionInfo> {
  const [{ openDatabase }, { latestVersion, MIGRATIONS }] = await Promise.all([
    import('../store/open-database.ts'),
    import('../store/migrations/migrations.ts'),
  ]);
  const db = openDatabase(':memory:');
  try {
    const sqlite = db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '';
    const { node, v8 } = process.versions;
    return {
      version,
      commit: gitCommit,
      schema: latestVersion(MIGRATIONS),
      platform: `${process.platform}-${process.arch}`,
      runtimes: { node, v8, sqlite },
    };
  } finally {
    db.close();
  }
}
