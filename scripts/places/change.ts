/** A change to the sources that a maintainer may want to make, as edits of the files it touches. */

export interface Edit {
  /** Path from the root of the project. */
  file: string;
  /** Occurs once in the file. */
  find: string;
  put: string;
}

export interface Change {
  name: string;
  /** Most places in `src` that it may touch. */
  goal: number;
  edits: readonly Edit[];
  /** The test files that notice a place that was forgotten, where the type check does not. */
  tests: readonly string[];
}

/** A member of the signal filter: it is declared, and selects something. */
export const FILTER_MEMBER: Change = {
  name: 'a stream filter member',
  goal: 2,
  edits: [
    {
      file: 'src/model/stream-filters.ts',
      find: "  excludeMints: { type: 'flag', byDefault: false,",
      put: "  excludeBurns: { type: 'flag', byDefault: false, description: 'Exclude sells to the zero address' },\n  excludeMints: { type: 'flag', byDefault: false,",
    },
    {
      file: 'src/streams/transfers/signals.ts',
      find: '  const { row } = facts;\n  if (filter.tokens.size > 0',
      put: '  const { row } = facts;\n  if (filter.excludeBurns && row.to === ZERO_DIGITS) return NONE;\n  if (filter.tokens.size > 0',
    },
    {
      file: 'test/streams/transfers/filter-effects.test.ts',
      find: '  excludeMints: {',
      put: '  excludeBurns: { filter: { excludeBurns: true }, excluded: { ...TOKEN, to: ZERO_DIGITS } },\n  excludeMints: {',
    },
  ],
  tests: ['test/streams/transfers/filter-effects.test.ts', 'test/streams/filter-schemas.test.ts'],
};
