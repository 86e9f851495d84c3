/** Which lines are commands, not queries: those with a dot, and what people type who know other prompts. */

const WORDS: Partial<Record<string, string>> = {
  help: '.help',
  '?': '.help',
  '\\?': '.help',
  '\\h': '.help',
  exit: '.exit',
  quit: '.exit',
  '\\q': '.exit',
  '\\df': '.functions',
};

const LISTS = /^(?:show (?:full )?tables|\\(?:dt|l|dn|dv)\+?|\.databases)$/;

/** What stands in front of a table whose columns are asked for. */
const DESCRIBING = [
  ...['describe table', 'describe', 'desc', 'explain', '\\d', '\\d+'],
  ...['show columns from', 'show columns in', 'show full columns from', 'show fields from'],
  ...['show create table', 'pragma table_info'],
];
/** A table, perhaps quoted, with a schema in front, or in parentheses. */
const TABLE = /^\(?(?:\w+\.)?["`']?(\w+)["`']?\)?$/;

/** Undefined for a part of a query. */
export function commandOf(line: string): string | undefined {
  const text = line.trim().replace(/\s*;$/, '');
  const words = text.toLowerCase().replace(/\s+/g, ' ').replace('(', ' (');
  if (LISTS.test(words)) return '.tables';
  if (words === '\\d' || words === 'describe') return '.schema';
  for (const phrase of DESCRIBING) {
    const [, table] = (words.startsWith(`${phrase} `) && TABLE.exec(words.slice(phrase.length + 1))) || [];
    if (table !== undefined) return `.schema ${table}`;
  }
  // No query begins with these: an unknown command is told at once, and does not wait for a semicolon.
  return WORDS[words] ?? (/^[.\\]/.test(text) ? text : undefined);
}
