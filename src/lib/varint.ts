/** Varints: non-negative integers in groups of seven bits, lowest first. The top bit says that another byte follows. */

/** Bytes of the longest varint of an exact number. */
const MAX_BYTES = 8;

export function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
}

/** The varints in these bytes, up to the first one that is truncated or too long. */
export function readVarints(bytes: Uint8Array): number[] {
  const values: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte > 127) {
      if (scale >= 128 ** MAX_BYTES) break;
      continue;
    }
    values.push(value);
    value = 0;
    scale = 1;
  }
  return values;
}
