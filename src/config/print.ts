/** The effective configuration as text: valid TOML, each setting with its source, secrets masked. */
import { stringify } from 'smol-toml';
import type { ParsedConfig } from './parse-config.ts';
import { maskSetting } from './secrets.ts';
import { flatten, isTable } from './tree.ts';

/** Widest setting to which the column of sources aligns. */
const MAX_COLUMN = 60;

export function printConfig(parsed: ParsedConfig): string {
  /** By table: TOML takes each header once. */
  const tables = new Map<string, { text: string; source: string }[]>();
  for (const { path, value, source } of maskedSettings(parsed)) {
    const cut = path.lastIndexOf('.');
    const here = path.slice(0, Math.max(cut, 0));
    const name = path.slice(cut + 1);
    // The library writes an empty table as a section of its own.
    const text = isTable(value) ? `${name} = {}` : stringify({ [name]: value }).trim();
    const table = tables.get(here) ?? [];
    tables.set(here, table);
    table.push({ text, source });
  }
  const lines = [...tables].flatMap(([table, settings]): { text: string; source?: string }[] =>
    table === '' ? settings : [{ text: '' }, { text: `[${table}]` }, ...settings],
  );
  const width = Math.min(MAX_COLUMN, Math.max(...lines.map((line) => line.text.length)));
  return lines.map(({ text, source }) => (source ? `${text.padEnd(width)}  # ${source}` : text)).join('\n');
}

/** `{"server.port": {"value": 8650, "source": "default"}, ...}`. */
export function printConfigJson(parsed: ParsedConfig): string {
  const entries = maskedSettings(parsed).map(({ path, value, source }) => [path, { value, source }]);
  return JSON.stringify(Object.fromEntries(entries), null, 2);
}

/** Settings by dotted path with secrets masked. Safe to show to anybody. */
function maskedSettings(parsed: ParsedConfig): { path: string; value: unknown; source: string }[] {
  return [...flatten(parsed.config)].map(([path, value]) => ({
    path,
    value: maskSetting(path, value),
    source: parsed.sources[path] ?? 'default',
  }));
}
