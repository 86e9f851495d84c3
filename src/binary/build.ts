/** Constants of the single binary's build. */

/** Defined by scripts/build-binary.ts: the commit, followed by `-dirty` when files had changed since. */
declare const BUILD_COMMIT: string;

export const gitCommit: string | null = BUILD_COMMIT;
