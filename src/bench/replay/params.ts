/** Reading of JSON-RPC parameters. */

const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Number of a quantity, null when the value is none. */
export function parseQuantity(value: unknown): number | null {
  return typeof value === 'string' && QUANTITY.test(value) ? Number(value) : null;
}
