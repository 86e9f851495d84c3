/** Results for a terminal. Pure. */
import type { Table } from '../figure.ts';
import type { Machine } from '../machine.ts';
import { cellsOf } from './cells.ts';

export function textReport(machine: Machine, command: string, tables: readonly Table[]): string {
  return [machineLines(machine, command), ...tables.map(textTable)].join('\n\n');
}

function machineLines({ cpu, cores, memoryGb, system, node, version, at, load }: Machine, command: string) {
  return [
    `atlas-node ${version}, ${command}, ${at}`,
    `${cores} cores of ${cpu}, ${memoryGb} GB, ${system}, Node ${node}; load average at the start ${load}`,
  ].join('\n');
}

function textTable(table: Table): string {
  const cells = cellsOf(table);
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, i) =>
        table.layout === 'grid' && i > 0 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!),
      )
      .join('  ')
      .trimEnd(),
  );
  return [table.title, ...lines, ...table.notes.map((note) => `(${note})`)].join('\n');
}
