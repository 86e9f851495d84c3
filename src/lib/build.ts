/** Build-time constants. The single binary replaces this module with src/binary/build.ts. */

/** The commit the program was built from; null when run from source. */
export const gitCommit: string | null = null;
