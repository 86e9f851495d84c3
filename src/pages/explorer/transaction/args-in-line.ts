/** The arguments of a call or an event in one line. Pure. */
import { safeName, shortHex, unitsText } from '../../ui/format.ts';
import type { KnownName, KnownNames } from '../../ui/known-names.ts';
import type { Arg } from './arg-list.tsx';
import { nameIn } from './sentences.ts';

/** `emitter`: the contract that is called or that emitted the event, whose amounts they are if it is a token. */
export function argsInLine(args: readonly Arg[], emitter: KnownName | undefined, names: KnownNames): string {
  const token = emitter?.type === 'erc20' ? emitter : undefined;
  if (args.length === 0) return 'no arguments';
  return args
    .map(({ name, type, value }) => {
      const isAmount = type === 'uint256' && /^(value|amount|wad)$/.test(name) && token?.decimals != null;
      const text = isAmount
        ? unitsText(String(value), token.decimals, token.symbol)
        : shortValue(value, names);
      return name === '' ? text : `${safeName(name, 24)} ${text}`;
    })
    .join(', ');
}

function shortValue(value: unknown, names: KnownNames): string {
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value !== 'string') return '[…]';
  if (/^0x[0-9a-f]{40}$/.test(value)) return nameIn(names, value);
  return value.startsWith('0x') ? shortHex(value) : safeName(value, 24);
}
