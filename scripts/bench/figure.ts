/** The result of a measurement: figures with all their samples, in tables. Pure. */

/** Units for which more is better. For all others, less is better. */
const MORE_IS_BETTER = ['transfers/s', 'blocks/s', 'requests/s', 'messages/s'] as const;
export type Unit =
  | (typeof MORE_IS_BETTER)[number]
  | 'us'
  | 'ms'
  | 's'
  | 'MB'
  | 'B'
  | 'blocks'
  | 'commits'
  | 'pages'
  | 'transfers'
  | 'times'
  | '%';

/** A limit on a figure's median or, if it is compared with something, on its ratio. */
interface Budget {
  /** The required limit. */
  floor: number;
  /** The target value. */
  goal: number;
}

export interface Figure {
  name: string;
  /** The column of a figure in a grid. */
  column?: string;
  unit: Unit;
  /** One value per repetition. */
  samples: number[];
  /** The same figure of a comparison, measured alternately in the same run. */
  against?: { name: string; samples: number[] };
  budget?: Budget;
}

export interface Table {
  title: string;
  /** `list`: a line per figure. `grid`: a line per name and a column per column. */
  layout: 'list' | 'grid';
  figures: Figure[];
  /** Notes for the reader, such as omissions with their reasons. */
  notes: string[];
}

/** Middle of the sorted samples; NaN when there are none. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The quantile `q` (0 to 1) of the samples, interpolated linearly. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** How many times better than the comparison: above 1 is better in any unit. Null without a comparison. */
export function ratioOf({ unit, samples, against }: Figure): number | null {
  if (against === undefined) return null;
  const more = MORE_IS_BETTER.some((name) => name === unit);
  const ratios = samples.flatMap((measured, i) => {
    const other = against.samples[i];
    if (other === undefined) return [];
    return more ? measured / other : other / measured;
  });
  return median(ratios);
}

/** How a figure compares with its budget; null without a budget or without samples. */
export function verdictOf(figure: Figure): 'goal' | 'floor' | 'missed' | null {
  const { budget, unit, samples } = figure;
  const ratio = ratioOf(figure);
  const value = ratio ?? median(samples);
  if (budget === undefined || Number.isNaN(value)) return null;
  const more = ratio !== null || MORE_IS_BETTER.some((name) => name === unit);
  const keeps = (limit: number) => (more ? value >= limit : value <= limit);
  if (keeps(budget.goal)) return 'goal';
  return keeps(budget.floor) ? 'floor' : 'missed';
}
