/** JSON of extreme shape: deep, wide or long. */

export interface Shape {
  name: string;
  /** A value as JSON text, perhaps incomplete. */
  value: string;
}

const DEPTHS = [1_000, 3_000, 30_000, 1_000_000];
const COUNTS = [2_000, 60_000, 1_000_000];

const NESTS: Record<string, readonly [open: string, innermost: string, close: string]> = {
  lists: ['[', '', ']'],
  objects: ['{"a":', '1', '}'],
  'lists and objects': ['[{"params":', '[]', '}]'],
  'lists of two': ['[0,', '0', ']'],
};

const ITEMS: Record<string, (n: number) => string> = {
  'empty lists': (n) => `[${'[],'.repeat(n)}[]]`,
  'empty objects': (n) => `[${'{},'.repeat(n)}{}]`,
  numbers: (n) => `[${'0,'.repeat(n)}0]`,
  texts: (n) => `["${'","'.repeat(n)}"]`,
  'equal names': (n) => `{${'"a":1,'.repeat(n)}"a":1}`,
  names: (n) => `{${Array.from({ length: n }, (_, i) => `"a${i}":${i}`).join()}}`,
};

const LONG: Record<string, (n: number) => string> = {
  text: (n) => `"${'x'.repeat(n)}"`,
  escapes: (n) => `"${'\\u0000'.repeat(n / 6)}"`,
  backslashes: (n) => `"${'\\\\'.repeat(n / 2)}"`,
  number: (n) => '9'.repeat(n),
  fraction: (n) => `0.${'3'.repeat(n)}`,
  exponent: (n) => `1e${'9'.repeat(n)}`,
  'unclosed text': (n) => `"${'x'.repeat(n)}`,
  spaces: (n) => `${' '.repeat(n)}1`,
  hex: (n) => `"0x${'a1'.repeat(n / 2)}"`,
};

/** All shapes of at most `maxBytes`. */
export function shapes(maxBytes: number): Shape[] {
  const made: Shape[] = [];
  const add = (name: string, bytes: number, value: () => string): void => {
    if (bytes <= maxBytes) made.push({ name, value: value() });
  };
  for (const [what, [open, innermost, close]] of Object.entries(NESTS)) {
    for (const depth of DEPTHS) {
      add(`${depth} ${what}, unclosed`, depth * open.length, () => open.repeat(depth));
      add(`${depth} ${what}`, depth * (open.length + close.length) + 2, () => {
        return open.repeat(depth) + innermost + close.repeat(depth);
      });
    }
  }
  for (const [what, make] of Object.entries(ITEMS)) {
    for (const n of COUNTS) add(`${n} ${what}`, make(2).length * n * 0.6, () => make(n));
  }
  for (const [what, make] of Object.entries(LONG)) {
    for (const n of COUNTS) add(`a ${what} of ${n}`, n + 10, () => make(n));
  }
  return made.filter(({ value }) => value.length <= maxBytes);
}

/** Bodies of a JSON-RPC face that hold the value in each of their places. */
export function rpcBodies(method: string, { name, value }: Shape): Shape[] {
  const call = (id: string, called: string, params: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":${called},"params":${params}}`;
  const named = JSON.stringify(method);
  return [
    { name, value },
    { name: `${name} as params`, value: call('1', named, value) },
    { name: `${name} as a parameter`, value: call('1', named, `[${value}]`) },
    {
      name: `${name} as a named parameter`,
      value: call('1', named, `{"name":"wallet_summary","arguments":${value}}`),
    },
    { name: `${name} as _meta`, value: call('1', named, `{"_meta":${value}}`) },
    { name: `${name} as id`, value: call(value, named, '[]') },
    { name: `${name} as method`, value: call('1', value, '[]') },
    { name: `${name} as another member`, value: `{"a":${value},${call('1', named, '[]').slice(1)}` },
    { name: `${name} in a batch`, value: `[${call('1', named, '[]')},${value}]` },
    { name: `${name} as params in a batch`, value: `[${call('1', named, value)}]` },
  ];
}
