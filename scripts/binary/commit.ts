/** The commit being built. */
import { execFileSync } from 'node:child_process';

/** Abbreviated hash of the checked-out commit, plus `-dirty` when files differ; `unknown` outside a repository. */
export function commitOf(root: string): string {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '-dirty' : ''}`;
  } catch {
    return 'unknown';
  }
}
