/** A copy of the project in a temporary folder, to make changes in and take parts of them away. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './change.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test', 'scripts', 'bin', 'package.json', 'tsconfig.json'];

const SECONDS = 1_000;
/** A command that hangs fails after this long. */
const COMMAND_TIMEOUT_MS = 300 * SECONDS;

interface Outcome {
  ok: boolean;
  output: string;
}

export class Workshop {
  private readonly folder = mkdtempSync(join(tmpdir(), 'atlas-places-'));

  constructor() {
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
    writeFileSync(join(this.folder, '.gitignore'), 'node_modules\n');
    this.git('init', '--quiet');
    this.git('add', '.');
    this.git(
      '-c',
      'user.name=places',
      '-c',
      'user.email=places@localhost',
      'commit',
      '--quiet',
      '-m',
      'base',
    );
  }

  apply(edits: readonly Edit[]): void {
    for (const { file, find, put } of edits) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      if (text.split(find).length !== 2) throw new Error(`${file} must contain once: ${find}`);
      writeFileSync(
        path,
        text.replace(find, () => put),
      );
    }
  }

  /** One patch for each place in `src` that differs from the project. */
  hunks(): string[] {
    const diff = this.git('diff', '--unified=0', '--no-color', '--', 'src');
    return diff.split(/^(?=diff --git )/m).flatMap((file) => {
      const [header = '', ...hunks] = file.split(/^(?=@@ )/m);
      return hunks.map((hunk) => header + hunk);
    });
  }

  takeAway(hunk: string): void {
    this.patch(hunk, '--reverse');
  }

  putBack(hunk: string): void {
    this.patch(hunk);
  }

  typeCheck(): Outcome {
    return this.run(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit']);
  }

  test(files: readonly string[]): Outcome {
    return this.run(process.execPath, ['--import', import.meta.resolve('tsx'), '--test', ...files]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private patch(hunk: string, ...options: string[]): void {
    this.git('apply', '--unidiff-zero', '--whitespace=nowarn', ...options, { input: hunk });
  }

  private git(...given: (string | { input: string })[]): string {
    const args = given.filter((argument) => typeof argument === 'string');
    const input = given.find((argument) => typeof argument === 'object')?.input;
    const { ok, output } = this.run('git', args, input);
    if (!ok) throw new Error(`git ${args[0]} failed: ${output}`);
    return output;
  }

  private run(command: string, args: readonly string[], input?: string): Outcome {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: this.folder,
      env,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
      ...(input !== undefined && { input }),
    });
    return { ok: status === 0, output: `${stdout}${stderr}` };
  }
}
