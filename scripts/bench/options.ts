/** The options of a benchmark run. */
import { resolve } from 'node:path';
import { readOptions, refuse } from '../options.ts';

/** Everything that can be measured, in the order of measuring. */
export const MEASURES = [
  'decode',
  'filling',
  'append',
  'start',
  'rest',
  'points',
  'rpc',
  'large',
  'streams',
  'replays',
  'head',
  'sink',
  'growth',
  'trades',
  'answers',
] as const;
export type MeasureName = (typeof MEASURES)[number];

export interface BenchOptions {
  /** Transfers of the generated chain that fill the index; some more are reserved for later measurements. */
  transfers: number;
  /** Short loads and no repetitions: checks that everything works, without meaningful figures. */
  quick: boolean;
  /** Repetitions; the median counts. */
  repeat: number;
  only: readonly MeasureName[];
  /**
   * Folder of the index that `growth` keeps and continues, `trades` copies, and `answers` reads; null for a temporary
   * one.
   */
  index: string | null;
  /** Whether `growth` drops the pages of its index from the page cache before each commit. */
  cold: boolean;
  /** SVG file for the charts of `growth`. */
  picture: string | null;
  /** File to write all figures to. */
  json: string | null;
  /** File to write the tables to as Markdown. */
  markdown: string | null;
}

const TRANSFERS = 1_000_000;
const QUICK_TRANSFERS = 50_000;
const REPEAT = 3;

const MAX_COUNT = 10_000_000_000;

/** Parses the command line. A mistake ends the process. */
export function readBenchOptions(): BenchOptions {
  const { quick, transfers, repeat, only, index, cold, picture, json, markdown } = readOptions(
    `Measures speed and size on this machine, on a generated chain in a temporary folder.
Publish figures from a standard run only: npm run bench -- --json bench.json`,
    {
      transfers: {
        kind: 'whole',
        about: `transfers to index, ${TRANSFERS} unless given (--quick: ${QUICK_TRANSFERS})`,
        range: [1, MAX_COUNT],
      },
      quick: { kind: 'flag', about: 'fewer transfers, short loads, no repetitions: a check, not figures' },
      repeat: {
        kind: 'whole',
        about: `repetitions, of which the median counts, ${REPEAT} unless given (--quick: 1)`,
        range: [1, MAX_COUNT],
      },
      only: { kind: 'text', about: `a comma-separated choice of ${MEASURES.join(', ')}` },
      index: {
        kind: 'text',
        about:
          'folder of the index of "growth", which the next run continues; "trades" copies and "answers" reads it',
      },
      cold: { kind: 'flag', about: '"growth" drops its pages from the page cache before each commit' },
      picture: { kind: 'text', about: 'draw the figures of "growth" in this file, as SVG' },
      json: { kind: 'text', about: 'write all figures to this file' },
      markdown: { kind: 'text', about: 'write the tables to this file' },
    },
  );
  return {
    quick,
    transfers: transfers ?? (quick ? QUICK_TRANSFERS : TRANSFERS),
    repeat: repeat ?? (quick ? 1 : REPEAT),
    only: only === undefined ? MEASURES : only.split(',').map(measureName),
    index: index === undefined ? null : resolve(index),
    cold,
    picture: picture === undefined ? null : resolve(picture),
    json: json === undefined ? null : resolve(json),
    markdown: markdown === undefined ? null : resolve(markdown),
  };
}

function measureName(word: string): MeasureName {
  const name = MEASURES.find((measure) => measure === word.trim());
  return name ?? refuse(`--only must be a list of ${MEASURES.join(', ')}, not "${word}"`);
}
