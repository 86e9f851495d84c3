/** Inputs as a hostile or broken peer would send them: nearly right, or completely wrong. */
import fc from 'fast-check';

/** Any JSON, nested up to a few levels, with JSON's odd values. */
export const anyJson: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 4 });

/** Text that looks like hex, or only starts like hex. */
export const hexLike: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^0x[0-9a-f]{0,66}$/) },
  { weight: 2, arbitrary: hexDigits(64) },
  { weight: 2, arbitrary: hexDigits(40) },
  { weight: 1, arbitrary: fc.stringMatching(/^0x[0-9a-zA-Z]{64}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '0x', '0X12', '0x-1', '0x 1', '1', 'NaN', '0x1e3', '0xg', '0x\u0000'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
);

export function hexDigits(count: number): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(`^0x[0-9a-fA-F]{${count}}$`));
}

/** A JSON value with some parts, at any depth, replaced; including missing, duplicated and reordered parts. */
export function corrupt(
  good: unknown,
  replacement: fc.Arbitrary<unknown> = fc.oneof(anyJson, hexLike),
): fc.Arbitrary<unknown> {
  return fc
    .array(fc.record({ at: fc.array(fc.nat(), { maxLength: 9 }), how: fc.nat(5), value: replacement }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      let json: unknown = structuredClone(good);
      for (const { at, how, value } of changes) json = changed(json, at, how, value);
      return json;
    });
}

/** Walks down by `path` (numbers choose among the members) and changes the value at its end. */
function changed(json: unknown, path: readonly number[], how: number, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof json !== 'object' || json === null) return how === 0 ? undefined : value;
  if (Array.isArray(json)) {
    const list: unknown[] = [...json];
    if (list.length === 0) return [value];
    const i = step % list.length;
    if (rest.length === 0 && how === 1) list.splice(i, 1);
    else if (rest.length === 0 && how === 2) list.splice(i, 0, list[i]);
    else if (rest.length === 0 && how === 3) list.reverse();
    else list[i] = changed(list[i], rest, how, value);
    return list;
  }
  const entries = Object.entries(json);
  if (entries.length === 0) return { [String(step)]: value };
  const [name, member] = entries[step % entries.length]!;
  const copy: Record<string, unknown> = { ...json };
  if (rest.length === 0 && how === 1) delete copy[name];
  else copy[name] = changed(member, rest, how, value);
  return copy;
}
