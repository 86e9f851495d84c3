/** Completion at the prompt: names of tables, columns and functions, and keywords. */
import { FUNCTIONS } from '../../sql/functions.ts';
import { SHAPES } from '../../sql/tables/tables.ts';

const KEYWORDS = [
  ...['SELECT', 'DISTINCT', 'FROM', 'JOIN', 'LEFT JOIN', 'USING', 'ON', 'WHERE', 'AND', 'OR', 'NOT', 'IN'],
  ...['BETWEEN', 'LIKE', 'IS NULL', 'GROUP BY', 'HAVING', 'ORDER BY', 'ASC', 'DESC', 'LIMIT', 'WITH', 'AS'],
  ...['UNION ALL', 'EXPLAIN QUERY PLAN', 'count(*)', 'CASE', 'WHEN', 'THEN', 'ELSE', 'END'],
];
const COMMANDS = ['.tables', '.schema', '.functions', '.format', '.help', '.exit'];

/** A completer for readline: the names that continue a line, and the part that they replace. `before`: lines above. */
export function completions(line: string, before = ''): [names: string[], part: string] {
  const [part = ''] = /[A-Za-z0-9_.]*$/.exec(line) ?? [];
  if (part === '') return [[], ''];
  const [, qualifier, column] = /^(\w+)\.(\w*)$/.exec(part) ?? [];
  if (qualifier !== undefined && column !== undefined)
    return [
      matching(columnsOf(qualifier, `${before}\n${line}`), column).map((name) => `${qualifier}.${name}`),
      part,
    ];
  const names = line.trim().startsWith('.')
    ? COMMANDS
    : [...tables(), ...columnsIn(`${before}\n${line}`), ...functions(), ...KEYWORDS];
  return [[...new Set(matching(names, part))], part];
}

function matching(names: readonly string[], part: string): string[] {
  return names.filter((name) => name.toLowerCase().startsWith(part.toLowerCase()));
}

function tables(): string[] {
  return SHAPES.map(({ name }) => name);
}

function functions(): string[] {
  return FUNCTIONS.map(({ name }) => `${name}(`);
}

/** The columns of the tables that a query names; of all tables before it names one. */
function columnsIn(query: string): string[] {
  const named = SHAPES.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(query));
  return (named.length === 0 ? SHAPES : named).flatMap(({ columns }) => columns.map(({ name }) => name));
}

/** The columns of a table by its name or by an alias that follows it in the query. */
function columnsOf(qualifier: string, query: string): string[] {
  const isNamed = (name: string) =>
    name === qualifier.toLowerCase() ||
    new RegExp(`\\b${name}\\s+(?:AS\\s+)?${qualifier}\\b`, 'i').test(query);
  const shape = SHAPES.find(({ name }) => isNamed(name));
  return shape?.columns.map(({ name }) => name) ?? [];
}
