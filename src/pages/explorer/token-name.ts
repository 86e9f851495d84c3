import { safeName, shortHex } from '../ui/format.ts';

interface TokenFacts {
  name: string | null;
  symbol: string | null;
}

/** `Example Dollar (EXD)`, or the short address of an unnamed token. */
export function tokenName(address: string, { name, symbol }: TokenFacts): string {
  const shown = safeName(name ?? '', 40);
  const short = safeName(symbol ?? '');
  if (shown === '') return short === '' ? shortHex(address) : short;
  return short === '' || short === shown ? shown : `${shown} (${short})`;
}
