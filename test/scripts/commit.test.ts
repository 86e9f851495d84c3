import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitOf, requireSameCommit } from '../../scripts/binary/commit.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a build notices a commit or a change that is made meanwhile', (t) => {
  const root = tempDir(t);
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      stdio: 'ignore',
    });
  const file = join(root, 'file');
  const commit = (text: string) => {
    writeFileSync(file, text);
    git('add', 'file');
    git('commit', '--message', text);
    return commitOf(root);
  };
  git('init');
  const first = commit('one');
  requireSameCommit(root, first);
  writeFileSync(file, 'two');
  assert.throws(
    () => requireSameCommit(root, first),
    new RegExp(`from ${first} to ${first}-dirty: build again$`),
  );
  const second = commit('three');
  assert.throws(() => requireSameCommit(root, first), new RegExp(`from ${first} to ${second}: build again$`));
  requireSameCommit(root, second);
});
