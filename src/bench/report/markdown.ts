/** Results for a page. Pure. */
import type { Table } from '../figure.ts';
import type { Machine } from '../machine.ts';
import { cellsOf } from './cells.ts';

export function markdownReport(machine: Machine, command: string, tables: readonly Table[]): string {
  return `${[machineText(machine, command), ...tables.map(markdownTable)].join('\n\n')}\n`;
}

function machineText({ cpu, cores, memoryGb, system, node, version, at, load }: Machine, command: string) {
  return (
    `\`${command}\` of atlas-node ${version} on ${at.slice(0, 10)}: ${cores} cores of ${cpu}, ${memoryGb} GB, ` +
    `${system}, Node ${node}, load average at the start ${load}.`
  );
}

function markdownTable(table: Table): string {
  const [headings = [], ...rows] = cellsOf(table);
  const rule = headings.map((_, i) => (table.layout === 'grid' && i > 0 ? '--:' : '---'));
  const lines = [headings, rule, ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [`**${table.title}**`, lines.join('\n'), ...table.notes].join('\n\n');
}
