/** The first native binary that is not what was recorded, in one line, or undefined. */
export function checksumProblem(root: string): string | undefined;

/** Whether the pinned Node and the server's binary for it are there. */
export function hasBinaries(root: string): boolean;
