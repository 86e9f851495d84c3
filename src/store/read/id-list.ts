/** A list of ids as the one parameter of a statement that reads them in order with `json_each(?)`. */
export function idList(ids: readonly number[]): string {
  return `[${ids.join()}]`;
}
