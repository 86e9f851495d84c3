/** Types of natives.mjs, which is plain JavaScript so that setup can run on any Node. `root` is the project's folder. */
export const CHECKSUMS_FILE: string;
export function hasBinaries(root: string): boolean;
export function recordChecksums(root: string): void;
export function checksumProblem(root: string): string | undefined;
export function loadProblem(root: string): string | undefined;
