/** The commit being built. */
import { execFileSync } from 'node:child_process';

/** Throws if the checkout is at another commit by now: parts of the build may be of it. */
export function requireSameCommit(root: string, commit: string): void {
  const now = commitOf(root);
  if (now !== commit)
    throw new Error(`the checkout changed during the build, from ${commit} to ${now}: build again`);
}

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
