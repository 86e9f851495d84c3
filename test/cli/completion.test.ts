/** The completion scripts, run by their own shells. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { helpTexts } from '../support/daemon/help.ts';
import { tempDir } from '../support/temp-dir.ts';

const has = (shell: string) => spawnSync('/bin/sh', ['-c', `command -v ${shell}`]).status === 0;
const needs = (shell: string) => ({ skip: !has(shell) && `left out: this machine has no ${shell}` });

/** The script for a shell, in a folder that holds a file and a folder. */
async function scriptFor(t: TestContext, shell: string): Promise<{ cwd: string; file: string }> {
  const cwd = tempDir(t);
  writeFileSync(join(cwd, 'my.toml'), '');
  mkdirSync(join(cwd, 'my-data'));
  const { code, stdout } = await run(t, [LAUNCHER, 'completion', shell], { cwd });
  assert.equal(code, 0);
  const file = join(cwd, '.script');
  writeFileSync(file, stdout);
  return { cwd, file };
}

/** A command line up to the cursor, with completions that must and must not be offered. */
const CASES: { line: string; offers: string[]; not?: string[] }[] = [
  { line: 'atlas-node ', offers: ['start', 'keys', 'completion'], not: ['create', 'bash'] },
  { line: 'atlas-node st', offers: ['start', 'status'], not: ['init'] },
  { line: 'atlas-node keys ', offers: ['create', 'rotate', 'usage'], not: ['start'] },
  { line: 'atlas-node keys create --t', offers: ['--tier'], not: ['--name'] },
  { line: 'atlas-node keys create --tier ', offers: ['free', 'growth', 'pro', 'unlimited'] },
  { line: 'atlas-node start --log-level ', offers: ['debug', 'info', 'warn', 'error'], not: ['--port'] },
  { line: 'atlas-node start --port 1 --h', offers: ['--host', '--help'], not: ['--port'] },
  { line: 'atlas-node start --config my', offers: ['my.toml'] },
  { line: 'atlas-node config show --data-dir my', offers: ['my-data'], not: ['my.toml'] },
  { line: 'atlas-node completion ', offers: ['bash', 'zsh', 'fish'] },
  { line: 'atlas-node status --j', offers: ['--json'] },
  { line: 'atlas-node status --json --', offers: ['--watch'] },
];

function hold(answers: string[][]): void {
  for (const [i, { line, offers, not = [] }] of CASES.entries()) {
    const offered = answers[i] ?? [];
    assert.deepEqual(
      offers.filter((word) => !offered.includes(word)),
      [],
      `"${line}" offers only ${offered}`,
    );
    assert.deepEqual(
      not.filter((word) => offered.includes(word)),
      [],
      `"${line}" offers too much`,
    );
  }
}

/** Answers, separated by lines that contain only `=`. */
function answersOf(stdout: string): string[][] {
  return stdout
    .split(/^=$/m)
    .slice(1)
    .map((part) => part.split('\n').filter(Boolean));
}

test('bash completes commands, options and values', needs('bash'), async (t) => {
  const { cwd, file } = await scriptFor(t, 'bash');
  const asks = CASES.map(({ line }) => {
    const words = line.split(' ');
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _atlas_node; echo =; printf '%s\\n' "\${COMPREPLY[@]}"`;
  });
  const { code, stdout, stderr } = await run(t, ['bash', '-c', `source ${file}\n${asks.join('\n')}`], {
    cwd,
  });
  assert.deepEqual([code, stderr], [0, '']);
  hold(answersOf(stdout));
});

test('fish completes commands, options and values', needs('fish'), async (t) => {
  const { cwd, file } = await scriptFor(t, 'fish');
  const asks = CASES.map(({ line }) => `echo =; complete -C '${line}'`);
  const { stdout, stderr } = await run(t, ['fish', '-c', `source ${file}\n${asks.join('\n')}`], { cwd });
  assert.equal(stderr, '');
  // Folders end with a slash, and descriptions follow a tab.
  hold(answersOf(stdout.replace(/\/?(\t.*)?$/gm, '')));
});

test('zsh accepts the script', needs('zsh'), async (t) => {
  const { cwd, file } = await scriptFor(t, 'zsh');
  const { code, stderr } = await run(t, ['zsh', '-n', file], { cwd });
  assert.deepEqual([code, stderr], [0, '']);
});

test('the offered values are those that the configuration accepts', async (t) => {
  const { cwd, file } = await scriptFor(t, 'bash');
  const offered = async (flag: string) => {
    const ask = `source ${file}; COMP_WORDS=(atlas-node start ${flag} ''); COMP_CWORD=3; _atlas_node; echo "\${COMPREPLY[@]}"`;
    return (await run(t, ['bash', '-c', ask], { cwd })).stdout.trim().split(' ');
  };
  for (const level of await offered('--log-level')) parseConfig({ flags: { '--log-level': level } });
  for (const format of await offered('--log-format')) parseConfig({ flags: { '--log-format': format } });
  for (const block of await offered('--start-block')) parseConfig({ flags: { '--start-block': block } });
});

test('an unknown shell is refused with the list of known ones', async (t) => {
  const { code, stderr } = await run(t, [LAUNCHER, 'completion', 'tcsh'], { cwd: tempDir(t) });
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});

test('every command that is completed shows examples in its help, which fits into 80 columns', async (t) => {
  const cwd = tempDir(t);
  const { stdout } = await run(t, [LAUNCHER, 'completion', 'bash'], { cwd });
  const paths = [...(/^ +(" init".*)\) at=/m.exec(stdout)?.[1] ?? '').matchAll(/" ([^"]+)"/g)];
  assert.ok(paths.length > 15);
  const helps = helpTexts();
  for (const path of ['', ...paths.map(([, path = '']) => path)]) {
    const help = helps.get(path) ?? assert.fail(path);
    assert.match(help, /^Examples:\n {2}\$ .*atlas-node /m, path);
    for (const line of help.split('\n')) assert.ok(line.length <= 80, line);
  }
});
