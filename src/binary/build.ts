/** What was fixed when the single binary was built. */

/** Put in by scripts/build-binary.ts: the commit, with `-dirty` behind it when files had changed since. */
declare const BUILD_COMMIT: string;

export const commit: string | null = BUILD_COMMIT;
