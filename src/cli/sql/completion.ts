/** Completion at the prompt: names of tables, columns and functions, and keywords. */
import { FUNCTIONS } from '../../sql/functions.ts';
import { SHAPES } from '../../sql/tables/tables.ts';
import { FORMATS } from './answer-text.ts';

const KEYWORDS = [
  ...['SELECT', 'DISTINCT', 'FROM', 'JOIN', 'LEFT JOIN', 'USING', 'ON', 'WHERE', 'AND', 'OR', 'NOT', 'IN'],
  ...['BETWEEN', 'LIKE', 'IS NULL', 'GROUP BY', 'HAVING', 'ORDER BY', 'ASC', 'DESC', 'LIMIT', 'WITH', 'AS'],
  ...['UNION ALL', 'EXPLAIN QUERY PLAN', 'count(*)', 'CASE', 'WHEN', 'THEN', 'ELSE', 'END'],
];
/** The functions of SQLite that questions about transfers need most. */
const USUAL_FUNCTIONS = [
  ...['sum', 'avg', 'min', 'max', 'total', 'median', 'group_concat', 'row_number', 'lag', 'rank'],
  ...['date', 'datetime', 'strftime', 'unixepoch', 'coalesce', 'iif', 'round', 'substr', 'length', 'lower'],
  ...['CAST', 'json_group_array', 'json_each'],
];
const COMMANDS = ['.tables', '.schema', '.functions', '.format', '.help', '.exit'];

/** A completer for readline: the names that continue a line, and the part that they replace. `before`: lines above. */
export function completions(line: string, before = ''): [names: string[], part: string] {
  const [part = ''] = /[A-Za-z0-9_.]*$/.exec(line) ?? [];
  if (part === '') return [[], ''];
  const [, qualifier, column] = /^(\w+)\.(\w*)$/.exec(part) ?? [];
  if (qualifier !== undefined && column !== undefined)
    return [
      [...new Set(matching(columnsOf(qualifier, `${before}\n${line}`), column))].map(
        (name) => `${qualifier}.${name}`,
      ),
      part,
    ];
  const [, command] = /^\s*(\.\w*|\\d\+?)\s/.exec(line) ?? [];
  if (command !== undefined) return [matching(argumentsOf(command), part), part];
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

/** What may follow a command. */
function argumentsOf(command: string): readonly string[] {
  if (command === '.schema' || command.startsWith('\\d')) return tables();
  return command === '.format' ? FORMATS : [];
}

function functions(): string[] {
  return [...FUNCTIONS.map(({ name }) => name), ...USUAL_FUNCTIONS].map((name) => `${name}(`);
}

/** The columns of the tables that a query names; of all tables before it names one. */
function columnsIn(query: string): string[] {
  const named = SHAPES.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(query));
  return (named.length === 0 ? SHAPES : named).flatMap(({ columns }) => columns.map(({ name }) => name));
}

/** The columns of a table by its name or by an alias that follows it in the query; of all before the query names it. */
function columnsOf(qualifier: string, query: string): string[] {
  const isNamed = (name: string) =>
    name === qualifier.toLowerCase() ||
    new RegExp(`\\b${name}\\s+(?:AS\\s+)?${qualifier}\\b`, 'i').test(query);
  const shape = SHAPES.find(({ name }) => isNamed(name));
  return (shape === undefined ? SHAPES : [shape]).flatMap(({ columns }) => columns.map(({ name }) => name));
}
