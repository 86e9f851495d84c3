/** The commands of the prompt that begin with a dot. Most also work as `atlas-node sql .schema`. */
import { FUNCTIONS } from '../../sql/functions.ts';
import { closestName } from '../../sql/hints/closest-name.ts';
import { SHAPES } from '../../sql/tables/tables.ts';
import { alignColumns } from '../format.ts';
import { FORMATS } from './answer-text.ts';
import type { AnswerOptions } from './print-answer.ts';

const HELP = `.tables          the tables
.schema [table]  the columns of the tables
.functions       the functions besides those of SQLite
.format <name>   ${FORMATS.join(', ')}: json has a column a line
.help            this list
.exit            ends the prompt, as Ctrl-D does
A query ends with a semicolon. Ctrl-C ends a query that runs. The Tab key completes names.`;

/** Whether the prompt ends. */
export function runCommand(line: string, options: AnswerOptions): boolean {
  const [command = '', argument] = line.replace(/;$/, '').split(/\s+/);
  if (command === '.exit' || command === '.quit') return true;
  if (command === '.tables') console.log(alignColumns(tableLines(), () => false).join('\n'));
  else if (command === '.functions')
    console.log(
      alignColumns(
        FUNCTIONS.map(({ signature, description }) => [signature, description]),
        () => false,
      ).join('\n'),
    );
  else if (command === '.schema') printSchema(argument);
  else if (command === '.format') setFormat(argument, options);
  else {
    if (command !== '.help') console.log(`there is no command "${command}"; these are:`);
    console.log(HELP);
  }
  return false;
}

function tableLines(): string[][] {
  return SHAPES.map(({ name, description }) => [name, description]);
}

function printSchema(table: string | undefined): void {
  const wanted = SHAPES.filter(({ name }) => table === undefined || name === table.toLowerCase());
  if (wanted.length === 0) {
    const names = SHAPES.map(({ name }) => name);
    const meant = closestName(table ?? '', names);
    const advice = meant === undefined ? `the tables are ${names.join(', ')}` : `did you mean ${meant}?`;
    console.log(`there is no table "${table}": ${advice}`);
  }
  for (const { name, columns } of wanted)
    console.log(`${name}(${columns.map((column) => `${column.name} ${column.type}`).join(', ')})`);
}

function setFormat(name: string | undefined, options: AnswerOptions): void {
  const format = FORMATS.find((known) => known === name);
  if (format === undefined) console.log(`the formats are ${FORMATS.join(', ')}`);
  else options.format = format;
}
