/** Results for a page. Pure. */
import { formatDuration } from '../../../src/cli/format.ts';
import type { Table } from '../figure.ts';
import type { Run } from '../machine.ts';
import { cellsOf } from './cells.ts';
import { machineLoadText } from './format.ts';

export function markdownReport(run: Run, tables: readonly Table[]): string {
  return `${[runText(run), ...tables.map(markdownTable)].join('\n\n')}\n`;
}

function runText(run: Run): string {
  const { machine, command, seconds } = run;
  const { cpu, cores, memoryGb, system, node, version, at } = machine;
  return (
    `\`${command}\` of atlas-node ${version} on ${at.slice(0, 10)}, ${formatDuration(seconds)}: ${cores} ` +
    `cores of ${cpu}, ` +
    `${memoryGb} GB, ${system}, Node ${node}; ${machineLoadText(run)}.`
  );
}

function markdownTable(table: Table): string {
  const [headings = [], ...rows] = cellsOf(table);
  const rule = headings.map((_, i) => (table.layout === 'grid' && i > 0 ? '--:' : '---'));
  const lines = [headings, rule, ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [`**${table.title}**`, lines.join('\n'), ...table.notes].join('\n\n');
}
