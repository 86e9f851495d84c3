/** Settings by dotted path (`server.port`): walks the schema and trees of values. */
import * as z from 'zod';
import { configSchema } from './schema.ts';

/** A TOML table, or an equivalent plain object. */
export type Table = Record<string, unknown>;

/** Values by dotted path, in order. */
export type Leaves = Map<string, unknown>;

export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The schema of the setting or table at a path, or undefined. */
export function schemaAt(path: string): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const key of path.split('.')) {
    const inner = withoutDefault(at);
    if (inner instanceof z.ZodObject) at = Object.hasOwn(inner.shape, key) ? inner.shape[key] : undefined;
    else if (inner instanceof z.ZodRecord)
      at = z.safeParse(inner.keyType, key).success ? inner.valueType : undefined;
    else if (inner instanceof z.ZodUnion) at = memberOfUnion(inner, key);
    else return undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

/** Of a setting that may be a table. */
function memberOfUnion({ options }: z.ZodUnion, key: string): z.core.$ZodType | undefined {
  const table = options.find((option) => option instanceof z.ZodObject);
  return table !== undefined && Object.hasOwn(table.shape, key) ? table.shape[key] : undefined;
}

/** What is wrong with a user-chosen name in the path, such as a tier's; undefined if it is valid. */
export function chosenNameError(path: string): string | undefined {
  const keys = path.split('.');
  for (const [i, key] of keys.entries()) {
    const parent = schemaAt(keys.slice(0, i).join('.'));
    const table = parent && withoutDefault(parent);
    if (!(table instanceof z.ZodRecord)) continue;
    const { error } = z.safeParse(table.keyType, key);
    if (error !== undefined) return `"${key}" ${error.issues[0]?.message}`;
  }
  return undefined;
}

/** Whether a schema describes a table of settings rather than one setting. */
export function isTableSchema(schema: z.core.$ZodType): boolean {
  const inner = withoutDefault(schema);
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord;
}

/** The names of the settings of the table at a path; none where the operator chooses them. */
export function membersOf(path: string): string[] {
  const schema = schemaAt(path);
  const inner = schema && withoutDefault(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

/** The words that a setting accepts if it accepts only words or numbers; else none. */
export function choicesOf(path: string): string[] {
  const schema = schemaAt(path);
  const inner = schema && withoutDefault(schema);
  const kinds = inner instanceof z.ZodUnion ? inner.options : [inner];
  return kinds.flatMap((kind) => (kind instanceof z.ZodEnum ? kind.options.map(String) : []));
}

/** Tables deeper than this count as values; the settings need three levels. TOML allows any depth. */
const MAX_TABLES = 16;

/** The settings in a tree of values. An empty table counts as a value. */
export function flatten(tree: Table, prefix = '', depth = 1): Leaves {
  const leaves: Leaves = new Map();
  for (const [key, value] of Object.entries(tree)) {
    const isLeaf = !isTable(value) || Object.keys(value).length === 0 || depth === MAX_TABLES;
    if (isLeaf) leaves.set(prefix + key, value);
    else for (const [path, leaf] of flatten(value, `${prefix}${key}.`, depth + 1)) leaves.set(path, leaf);
  }
  return leaves;
}

/** The reverse of `flatten`. */
export function unflatten(leaves: Leaves): Table {
  const tree: Table = {};
  for (const [path, value] of leaves) {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let table = tree;
    for (const key of keys) {
      const next = table[key];
      const child: Table = isTable(next) ? next : {};
      table[key] = child;
      table = child;
    }
    table[last] = value;
  }
  return tree;
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.unwrap();
  return schema;
}
