/** What a benchmark run is asked to do. */

/** Everything that can be measured, in the order of measuring. */
export const MEASURES = [
  'decode',
  'filling',
  'append',
  'start',
  'rest',
  'points',
  'rpc',
  'streams',
  'head',
] as const;
export type MeasureName = (typeof MEASURES)[number];

export interface BenchOptions {
  /** Transfers of the generated chain that fill the index; some more are kept for later measurements. */
  transfers: number;
  /** Short loads and no repetitions: to check that everything works, not for figures. */
  quick: boolean;
  /** Repetitions, of which the median counts. */
  repeat: number;
  only: readonly MeasureName[];
  /** File to write all figures to. */
  json: string | null;
  /** File to write the tables to as Markdown. */
  markdown: string | null;
}

export const TRANSFERS = 1_000_000;
export const QUICK_TRANSFERS = 50_000;
export const REPEAT = 3;
