/** Reading the text of a configuration file. */
import { parse, TomlError } from 'smol-toml';
import { ConfigError } from '../errors.ts';
import type { Table } from './tree.ts';

/** The tables of a TOML text; for a syntax error, throws a ConfigError with the file and the place. */
export function parseToml(text: string, path: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.split('\n');
    throw new ConfigError(`${path} line ${error.line}, column ${error.column}: ${reason}`);
  }
}

/**
 * The line of a setting, from 1, or undefined when it is not found.
 * It reads headers and `key =` only, so a setting inside an inline table is found at the table's line.
 */
export function lineOf(text: string, path: string): number | undefined {
  let table = '';
  let outer: number | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const header = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1];
    const key = /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1];
    if (header !== undefined) table = plainPath(header);
    const here = header !== undefined ? table : key !== undefined ? joined(table, plainPath(key)) : undefined;
    if (here === path) return at + 1;
    if (here !== undefined && path.startsWith(`${here}.`)) outer = at + 1;
  }
  return outer;
}

function plainPath(path: string): string {
  return path.replace(/["'\s]/g, '');
}

function joined(table: string, key: string): string {
  return table === '' ? key : `${table}.${key}`;
}
