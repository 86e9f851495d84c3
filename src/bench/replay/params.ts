/** Reading of JSON-RPC parameters. */

const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;

/** Number of a quantity, null when the value is none. */
export function parseQuantity(value: unknown): number | null {
  return typeof value === 'string' && QUANTITY.test(value) ? Number(value) : null;
}
