/** Results for a terminal. Pure. */
import { alignColumns, formatDuration } from '../../../src/cli/format.ts';
import type { Table } from '../figure.ts';
import type { Run } from '../machine.ts';
import { cellsOf } from './cells.ts';
import { machineLoadText } from './format.ts';

export function textReport(run: Run, tables: readonly Table[]): string {
  return [runLines(run), ...tables.map(textTable)].join('\n\n');
}

function runLines(run: Run): string {
  const { machine, command, seconds } = run;
  const { cpu, cores, memoryGb, system, node, version, at } = machine;
  return [
    `atlas-node ${version}: ${command}`,
    `${at}, ${formatDuration(seconds)}; ${cores} cores of ${cpu}, ${memoryGb} GB, ${system}, Node ${node}`,
    machineLoadText(run),
  ].join('\n');
}

function textTable(table: Table): string {
  const lines = alignColumns(cellsOf(table), (column) => table.layout === 'grid' && column > 0);
  return [table.title, ...lines, ...table.notes.map((note) => `(${note})`)].join('\n');
}
