/** Checks a query without an index: whether it may run, and what it gives and reads. */
import { openMemory } from '../store/open-database.ts';
import { defineFunctions } from './functions.ts';
import { withHint } from './hints/query-hints.ts';
import { rewriteQuery } from './plan/rewrite.ts';
import { QueryRefusal } from './query-refusal.ts';
import { refusalOf } from './session.ts';
import { READS, readsOf } from './tables/shape.ts';
import { columnNames, SHAPES } from './tables/tables.ts';
import { isGroup, isSymbol, isWord, type Node } from './text/nodes.ts';
import { readStatement } from './text/statement.ts';
import { tokensOf } from './text/tokens.ts';

export interface CheckedQuery {
  columns: string[];
  /** The names after the colons. */
  parameters: string[];
  /** The tables of which it reads all rows. */
  scanned: string[];
  /** What its author certainly does not mean, although it runs. */
  notes: string[];
  /** Whether the same index always gives the same answer: it asks for no time and no random number. */
  isRepeatable: boolean;
}

/** Throws QueryRefusal. */
export function checkQuery(text: string): CheckedQuery {
  try {
    return checked(text);
  } catch (error) {
    throw withHint(error, text);
  }
}

function checked(text: string): CheckedQuery {
  const statement = readStatement(text);
  const parameters = namedParameters(statement.text);
  const rewritten = rewriteQuery(statement, SHAPES, { timesAscend: true });
  const { sql, uses, restore } = rewritten;
  const memory = openMemory();
  try {
    defineFunctions(memory);
    for (const use of uses)
      memory.table(use.name, {
        columns: columnNames(use),
        parameters: use.parameters.map((_, i) => `#${i}`),
        directOnly: false,
        *rows() {},
      });
    const prepared = memory.prepare(sql);
    if (!prepared.reader || !prepared.readonly) throw new QueryRefusal('only statements that read are run');
    const isScan = ({ table, parameters, isFirstOnly, isBounded }: (typeof uses)[number]) =>
      !isFirstOnly &&
      !isBounded &&
      SHAPES.some((shape) => shape.name === table && readsOf(shape, parameters) === READS.scan);
    return {
      columns: prepared.columns().map(({ name }) => restore(name)),
      parameters,
      scanned: [...new Set(uses.filter(isScan).map(({ table }) => table))],
      notes: rewritten.notes,
      isRepeatable: isRepeatable(statement.nodes, parameters.length > 0),
    };
  } catch (error) {
    throw refusalOf(error, rewritten);
  } finally {
    memory.close();
  }
}

/** Throws QueryRefusal for parameters of another form. */
function namedParameters(text: string): string[] {
  const written = tokensOf(text)
    .filter(({ kind }) => kind === 'parameter')
    .map(({ value }) => value);
  const other = written.find((parameter) => !/^:\w+$/.test(parameter));
  if (other !== undefined)
    throw new QueryRefusal(`parameters are written with a colon and a name, as :wallet, not ${other}`);
  return [...new Set(written.map((parameter) => parameter.slice(1)))];
}

const CLOCKS = ['current_time', 'current_date', 'current_timestamp', 'random', 'randomblob'];
const DATES = ['date', 'time', 'datetime', 'julianday', 'unixepoch', 'strftime', 'timediff'];
const NOW = /^(?:now|subsec|subsecond)$/i;

/** Without a time, functions of dates mean now, and a parameter may say so. */
function isRepeatable(nodes: readonly Node[], hasParameters: boolean): boolean {
  return nodes.every((node, i) => {
    if (isGroup(node)) return isRepeatable(node.nodes, hasParameters);
    if (isWord(node, ...CLOCKS)) return false;
    if (node.kind === 'string' && NOW.test(node.value)) return false;
    const next = nodes[i + 1];
    if (!isWord(node, ...DATES) || next === undefined || !isGroup(next)) return true;
    const hasTime = next.nodes.length > 0 && (!isWord(node, 'strftime') || hasComma(next.nodes));
    return hasTime && !hasParameters && isRepeatable(next.nodes, hasParameters);
  });
}

function hasComma(nodes: readonly Node[]): boolean {
  return nodes.some((node) => isSymbol(node, ','));
}
