/** Names of an answer's columns as members of an object. */

/** A column that has the name of an earlier one gets a number. */
export function uniqueNames(columns: readonly string[]): string[] {
  const names: string[] = [];
  for (const column of columns) {
    let name = column;
    for (let i = 2; names.includes(name); i++) name = `${column}_${i}`;
    names.push(name);
  }
  return names;
}
