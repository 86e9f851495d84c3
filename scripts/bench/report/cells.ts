/** A table of figures as cells of text. Pure. */
import { type Figure, median, type Table } from '../figure.ts';
import { budgetText, formatSignificant, medianText, ratioText, spreadText } from './format.ts';

/** Rows of cells, the headings first. */
export function cellsOf(table: Table): string[][] {
  return table.layout === 'grid' ? gridCells(table.figures) : listCells(table.figures);
}

function listCells(figures: readonly Figure[]): string[][] {
  const columns: [heading: string, text: (figure: Figure) => string][] = [
    ['what', ({ name }) => name],
    ['median', medianText],
    ['spread', spreadText],
    ['compared', ratioText],
    ['budget', budgetText],
  ];
  // Columns that are empty in this table are omitted.
  const used = columns.filter(([, text]) => figures.some((figure) => text(figure) !== ''));
  return [used.map(([heading]) => heading), ...figures.map((figure) => used.map(([, text]) => text(figure)))];
}

function gridCells(figures: readonly Figure[]): string[][] {
  const names = [...new Set(figures.map(({ name }) => name))];
  const columns = [...new Set(figures.map(({ column }) => column ?? ''))];
  const cell = (name: string, column: string) => {
    const figure = figures.find((one) => one.name === name && (one.column ?? '') === column);
    return figure === undefined ? '' : formatSignificant(median(figure.samples));
  };
  return [['', ...columns], ...names.map((name) => [name, ...columns.map((column) => cell(name, column))])];
}
