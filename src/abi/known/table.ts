/**
 * Reads a table of declarations. Each group begins with the hash that a call or log carries; the declarations behind or
 * below it share this hash. A declaration may go on in the next line; a line that begins with # is a comment.
 *
 * The hashes are written down so that nothing must be hashed to look one up; a test computes them.
 */

/** The declarations of each hash, as text. */
export type SignatureTable = Map<string, string[]>;

export function readTable(text: string): SignatureTable {
  const table: SignatureTable = new Map();
  let declarations: string[] = [];
  let begun = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const [, hash, rest] = /^(0x[0-9a-f]+)(.*)$/.exec(line) ?? [undefined, undefined, line];
    if (hash !== undefined) {
      declarations = [];
      table.set(hash, declarations);
    }
    begun = `${begun} ${rest}`.trim();
    if (begun === '' || !isBalanced(begun)) continue;
    declarations.push(begun);
    begun = '';
  }
  return table;
}

function isBalanced(text: string): boolean {
  return text.split('(').length === text.split(')').length;
}
