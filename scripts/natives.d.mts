/** The first native binary that is not what was recorded, in one line, or undefined. */
export function checksumProblem(root: string): string | undefined;
