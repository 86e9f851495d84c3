/** The options of the scripts: `--help` prints what a script does; a mistake causes one line and exit code 2. */
import { basename } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Seeds are 32 bits wide. */
export const MAX_SEED = 2 ** 32 - 1;

const script = basename(process.argv[1] ?? '');

type Option = { about: string } & (
  | { kind: 'whole' | 'decimal'; default?: number; range: readonly [number, number] }
  | { kind: 'text'; default?: string }
  | { kind: 'flag' }
);

type Value<O> = O extends { kind: 'flag' }
  ? boolean
  : (O extends { kind: 'text' } ? string : number) | (O extends { default: unknown } ? never : undefined);

/**
 * The parsed command line, with `files` if they have a name. Ends the process if help is requested or the command line
 * is invalid.
 */
export function readOptions<const T extends Record<string, Option>>(
  does: string,
  options: T,
  nameOfFiles = '',
): { [K in keyof T]: Value<T[K]> } & { files: string[] } {
  try {
    const known: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
    for (const [name, { kind }] of Object.entries(options))
      known[name] = { type: kind === 'flag' ? 'boolean' : 'string' };
    const parsed = parseArgs({ options: known, allowPositionals: nameOfFiles !== '' });
    const values: Record<string, unknown> = parsed.values;
    if (values['help']) {
      console.log(usage([script, nameOfFiles, '[options]'].filter(Boolean).join(' '), does, options));
      process.exit(0);
    }
    const read = Object.entries(options).map(([name, option]) => [name, valueIn(name, option, values[name])]);
    const result = Object.fromEntries(read) as { [K in keyof T]: Value<T[K]> };
    return { ...result, files: parsed.positionals };
  } catch (error) {
    const [problem = ''] = (error as Error).message.split('\n');
    return refuse(problem);
  }
}

/** Ends the process because of a mistake on the command line. */
export function refuse(problem: string): never {
  console.error(`${script}: ${problem} (see --help)`);
  process.exit(2);
}

function valueIn(name: string, option: Option, given: unknown) {
  if (option.kind === 'flag') return given === true;
  if (given === undefined) return option.default;
  if (option.kind === 'text') return given;
  const { kind, range } = option;
  const digits = kind === 'whole' ? /^\d+$/ : /^\d+(\.\d+)?$/;
  const value = Number(given);
  if (!digits.test(String(given)) || value < range[0] || value > range[1])
    throw new Error(`--${name} must be a ${kind} number from ${range.join(' to ')}, not "${given}"`);
  return value;
}

function usage(call: string, does: string, options: Record<string, Option>): string {
  const rows = [
    ...Object.entries(options).map(([name, option]) => [synopsis(name, option), explain(option)]),
    ['--help', 'this text'],
  ] as [string, string][];
  const width = Math.max(...rows.map(([left]) => left.length)) + 3;
  return [call, does, '', ...rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`)].join('\n');
}

function synopsis(name: string, { kind }: Option): string {
  return kind === 'flag' ? `--${name}` : `--${name} ${kind === 'text' ? 'TEXT' : 'N'}`;
}

function explain(option: Option): string {
  if (option.kind === 'flag') return option.about;
  const limits = option.kind === 'text' ? [] : [option.range.join(' to ')];
  if (option.default !== undefined && option.default !== '') limits.push(`default ${option.default}`);
  return limits.length === 0 ? option.about : `${option.about} (${limits.join(', ')})`;
}
