/** A copy of the project in a temporary folder, to make changes in and take parts of them away. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './change.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test', 'scripts', 'bin', 'package.json', 'tsconfig.json'];

/** The compiler's settings, and its state. */
const CHECKED = 'tsconfig.checked.json';
const STATE = 'types';

const SECONDS = 1_000;
/** A command that hangs fails after this long. */
const COMMAND_TIMEOUT_MS = 300 * SECONDS;

interface Outcome {
  ok: boolean;
  output: string;
}

/** Lines of a file that differ from the project: a hunk of `git diff -U0`. */
export interface Place {
  file: string;
  /** Index of the first of the project's lines that it replaces, or before which it inserts. */
  at: number;
  removed: number;
  added: readonly string[];
  /** As in the diff, for people. */
  text: string;
}

export class Workshop {
  private readonly folder = mkdtempSync(join(tmpdir(), 'atlas-places-'));

  constructor() {
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
    writeFileSync(join(this.folder, '.gitignore'), `node_modules\n${CHECKED}\n${STATE}\n`);
    this.git('init', '--quiet');
    this.git('add', '.');
    const author = ['-c', 'user.name=places', '-c', 'user.email=places@localhost'];
    this.git(...author, 'commit', '--quiet', '-m', 'base');
  }

  /** Makes the changes, in an untouched copy. */
  apply(edits: readonly Edit[]): void {
    this.git('reset', '--hard', '--quiet');
    this.git('clean', '-d', '--force', '--quiet');
    for (const { file, find, put } of edits) {
      const path = join(this.folder, file);
      if (find === undefined) {
        if (existsSync(path)) throw new Error(`${file} exists`);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, put);
        continue;
      }
      const text = readFileSync(path, 'utf8');
      if (text.split(find).length !== 2) throw new Error(`${file} must contain once: ${find}`);
      const changed = text.replace(find, () => put);
      writeFileSync(path, changed);
    }
    this.git('add', '--intent-to-add', '.');
  }

  /** Where `src` differs from the project. */
  places(): Place[] {
    const diff = this.git('diff', '--unified=0', '--no-color', '--', 'src');
    return diff.split(/^(?=diff --git )/m).flatMap((changed) => {
      const file = /^\+\+\+ b\/(.*)$/m.exec(changed)?.[1] ?? '';
      return changed
        .split(/^(?=@@ )/m)
        .slice(1)
        .map((hunk) => placeOf(file, hunk));
    });
  }

  /** Undoes the change in one place of those in its file. */
  takeAway(place: Place, places: readonly Place[]): void {
    const others = places.filter((other) => other.file === place.file && other !== place);
    this.write(place.file, others);
  }

  putBack(place: Place, places: readonly Place[]): void {
    const all = places.filter((other) => other.file === place.file);
    this.write(place.file, all);
  }

  /** Checks the sources and these tests. The compiler keeps its state for the next check. */
  typeCheck(tests: readonly string[]): Outcome {
    const config = { extends: './tsconfig.json', include: ['src', ...tests], exclude: ['src/pages'] };
    writeFileSync(join(this.folder, CHECKED), JSON.stringify(config));
    return this.run(join(ROOT, 'node_modules/.bin/tsc'), [
      ...['--noEmit', '--incremental', '--tsBuildInfoFile', STATE, '--project', CHECKED],
    ]);
  }

  test(files: readonly string[]): Outcome {
    return this.run(process.execPath, ['--import', import.meta.resolve('tsx'), '--test', ...files]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private write(file: string, places: readonly Place[]): void {
    const lines = this.projectLines(file);
    for (const { at, removed, added } of places.toReversed()) lines.splice(at, removed, ...added);
    if (lines.length === 0) rmSync(join(this.folder, file));
    else writeFileSync(join(this.folder, file), lines.join(''));
  }

  /** With their ends; none for a file that the project lacks. */
  private projectLines(file: string): string[] {
    const isNew = this.git('ls-tree', 'HEAD', file) === '';
    return isNew ? [] : this.git('show', `HEAD:${file}`).split(/(?<=\n)/);
  }

  private git(...args: string[]): string {
    const { ok, output } = this.run('git', args);
    if (!ok) throw new Error(`git ${args[0]} failed: ${output}`);
    return output;
  }

  private run(command: string, args: readonly string[]): Outcome {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: this.folder,
      env,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
    });
    return { ok: status === 0, output: `${stdout}${stderr}` };
  }
}

function placeOf(file: string, hunk: string): Place {
  const [header = '', ...lines] = hunk.split(/(?<=\n)/);
  const [, start = '', count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(header) ?? [];
  const removed = Number(count);
  return {
    file,
    at: removed === 0 ? Number(start) : Number(start) - 1, // an insertion names the line before it
    removed,
    added: lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1)),
    text: `${file} ${hunk}`,
  };
}
