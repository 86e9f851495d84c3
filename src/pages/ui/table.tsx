/** A table whose rows become cards on a narrow screen. */
import type { ComponentChildren, Key } from 'preact';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  number?: boolean;
  /** Left out on a narrow screen, where another cell says the same. */
  wideOnly?: boolean;
  /** Without its title on a narrow screen, since the cell speaks for itself. */
  plain?: boolean;
}

interface TableProps<Row> {
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  rowClass?: (row: Row) => string;
  /** Shown in place of rows when there are none. */
  empty?: ComponentChildren;
}

export function Table<Row>({ caption, columns, rows, rowKey, rowClass, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="notice">{empty}</p>;
  return (
    <table class="table">
      <caption class="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" class={cellClass(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} class={rowClass?.(row)}>
            {columns.map((column) => (
              <td
                key={column.title}
                class={cellClass(column)}
                data-title={column.plain ? undefined : column.title}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function cellClass<Row>({ number, wideOnly }: Column<Row>): string | undefined {
  const classes = [number && 'number', wideOnly && 'wide-only'].filter(Boolean).join(' ');
  return classes === '' ? undefined : classes;
}
