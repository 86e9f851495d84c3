/** The answer of a query: a table, a chart of two columns, and a file. */
import { useState } from 'preact/hooks';
import { csvLine } from '../../../lib/csv.ts';
import type { SqlAnswer } from '../../../server/admin/sql.ts';
import { download } from '../../client/download.ts';
import { Chart, type Point } from '../../ui/chart.tsx';
import { sentence } from '../admin-api.ts';

/** More rows than these make a page slow; the file has them all. */
const SHOWN_ROWS = 500;
const CHART_POINTS = 500;

export function SqlAnswerView({ answer, seconds }: { answer: SqlAnswer; seconds: number }) {
  const { columns, rows } = answer;
  const shown = rows.slice(0, SHOWN_ROWS);
  const isNumber = columns.map((_, at) => rows.some((row) => typeof row[at] === 'number'));
  const save = () =>
    download(new Blob([[columns, ...rows].map(csvLine).join('\n')], { type: 'text/csv' }), 'answer.csv');
  return (
    <>
      <div class="sql-note">
        <p class="small soft" role="status">
          {noteOf(answer, seconds)}
        </p>
        <button type="button" class="quiet" onClick={save}>
          CSV
        </button>
      </div>
      {answer.notes.map((note) => (
        <p key={note} class="small soft">
          {sentence(note)}
        </p>
      ))}
      <SqlChart answer={answer} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, and the keyboard must reach it */}
      <section class="sql-rows" aria-label="Answer" tabIndex={0}>
        <table class="sql-table">
          <thead>
            <tr>
              {columns.map((column, at) => (
                <th key={at} scope="col" class={isNumber[at] ? 'number' : undefined}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              <tr key={at}>
                {row.map((value, column) => (
                  <td key={column} class={isNumber[column] ? 'number' : undefined}>
                    {value === null ? <span class="soft">null</span> : String(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < rows.length && (
        <p class="small soft">
          The first {SHOWN_ROWS} of {rows.length} rows. The file has all of them.
        </p>
      )}
    </>
  );
}

function noteOf({ rows, head, cut, gaps, damage }: SqlAnswer, seconds: number): string {
  return [
    `${rows.length.toLocaleString('en-US')} ${rows.length === 1 ? 'row' : 'rows'} as of block ` +
      `${head.number.toLocaleString('en-US')}, ${seconds.toFixed(2)} s`,
    ...(cut === null ? [] : ['more rows were cut: ask for fewer, or use "atlas-node sql --limit"']),
    ...(gaps === 0 ? [] : [`${gaps} blocks lack transfers`]),
    ...(damage === null ? [] : [`the index is damaged: ${damage}`]),
  ].join('; ');
}

/** A chart of one column of numbers over another. */
function SqlChart({ answer: { columns, rows } }: { answer: SqlAnswer }) {
  const numeric = columns.flatMap((name, at) =>
    rows.length > 1 && rows.every((row) => typeof row[at] === 'number') ? [{ name, at }] : [],
  );
  const [chosen, choose] = useState<{ x: number; y: number } | null>(null);
  if (numeric.length === 0) return null;
  const x = chosen?.x ?? 0;
  const y = chosen?.y ?? numeric.find(({ at }) => at !== x)?.at ?? numeric[0]!.at;
  const points = pointsOf(rows, columns, x, y);
  return (
    <details class="sql-chart">
      <summary>Chart</summary>
      <div class="row-form">
        <label class="field">
          Across
          <select value={x} onChange={({ currentTarget }) => choose({ x: Number(currentTarget.value), y })}>
            {columns.map((name, at) => (
              <option key={at} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Up
          <select value={y} onChange={({ currentTarget }) => choose({ x, y: Number(currentTarget.value) })}>
            {numeric.map(({ name, at }) => (
              <option key={at} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Chart
        key={`${x} ${y}`}
        label={`${columns[y]} by ${columns[x]}`}
        points={points}
        kind="bars"
        ticks={ticksOf(points, rows, x)}
      />
      {points.length < rows.length && (
        <p class="small soft">
          The first {points.length} of {rows.length} rows.
        </p>
      )}
    </details>
  );
}

type Rows = SqlAnswer['rows'];

/** In the order of the rows, or of their numbers and times. */
function pointsOf(rows: Rows, columns: readonly string[], x: number, y: number): Point[] {
  return sortedBy(rows, x)
    .slice(0, CHART_POINTS)
    .map((row, at) => ({
      at,
      value: Number(row[y]),
      text: `${columns[x]} ${row[x] ?? 'null'}: ${row[y]}`,
    }));
}

function sortedBy(rows: Rows, x: number): Rows {
  const isOrdered = rows.every(
    (row) => typeof row[x] === 'number' || /^\d{4}-\d\d-\d\d/.test(String(row[x])),
  );
  if (!isOrdered) return rows;
  return rows.toSorted((a, b) => ((a[x] ?? '') < (b[x] ?? '') ? -1 : 1));
}

/** A few values of the column across. */
function ticksOf(points: readonly Point[], rows: Rows, x: number) {
  const sorted = sortedBy(rows, x);
  const step = Math.max(1, Math.ceil(points.length / 5));
  return points
    .filter((_, at) => at % step === 0)
    .map(({ at }) => ({ at, text: String(sorted[at]?.[x] ?? 'null').slice(0, 12) }));
}
