/** What was fixed when the program was built. The single binary has src/binary/build.ts instead. */

/** The commit the program was built from, or null when it runs from its sources. */
export const gitCommit: string | null = null;
