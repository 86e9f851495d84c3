/** A table whose rows become cards on a narrow screen. */
import type { ComponentChildren, Key } from 'preact';
import { Arrow } from './icons.tsx';

export interface Column<Row> {
  /** Empty for a drawing that needs none. */
  title: string;
  cell: (row: Row) => ComponentChildren;
  number?: boolean;
  /** Omitted below 1,024 px, where other cells suffice. */
  wideOnly?: boolean;
  /** Omitted where rows are cards. */
  tableOnly?: boolean;
  /** The sides of a payment share a line of a card, with an arrow between them. */
  side?: 'from' | 'to';
  /** Takes a whole line of a card. */
  whole?: boolean;
  /** Without its title on a narrow screen, where the cell explains itself. */
  plain?: boolean;
}

interface TableProps<Row> {
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  rowClass?: (row: Row) => string;
  /** Shown in place of rows if there are none. */
  empty?: ComponentChildren;
}

export function Table<Row>({ caption, columns, rows, rowKey, rowClass, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="notice">{empty}</p>;
  const right = rightInCard(columns);
  const classOf = (column: Column<Row>) => cellClass(column, right.has(column));
  return (
    <table class="table">
      <caption class="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) =>
            column.title === '' ? (
              <td key="" class={classOf(column)} />
            ) : (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} class={rowClass?.(row)}>
            {columns.map((column) => (
              <td
                key={column.title}
                class={classOf(column)}
                data-title={column.plain ? undefined : column.title}
              >
                {column.side === 'to' && (
                  <span class="card-only">
                    <Arrow />
                  </span>
                )}
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Cards have two columns: the right one holds every other cell, counted again from the sender of a payment. */
function rightInCard<Row>(columns: readonly Column<Row>[]): Set<Column<Row>> {
  const right = new Set<Column<Row>>();
  let isRight = false;
  for (const column of columns) {
    if (column.wideOnly || column.tableOnly) continue;
    if (column.side === 'from' || column.whole) isRight = false;
    if (isRight) right.add(column);
    isRight = !isRight && !column.whole;
  }
  return right;
}

function cellClass<Row>(
  { number, wideOnly, tableOnly, side, whole }: Column<Row>,
  isRight: boolean,
): string | undefined {
  const names = {
    number,
    'wide-only': wideOnly,
    'table-only': tableOnly,
    right: isRight && side === undefined,
    payer: side === 'from',
    payee: side === 'to',
    whole,
  };
  const classes = Object.entries(names).flatMap(([name, isSet]) => (isSet ? [name] : []));
  return classes.length === 0 ? undefined : classes.join(' ');
}
