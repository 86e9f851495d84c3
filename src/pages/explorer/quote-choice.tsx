/** What profits are counted in: the coin or a token. */
import { safeName, shortHex } from '../ui/format.ts';
import { COIN } from './coin.ts';

interface Quote {
  tokenAddress: string | null;
  symbol: string | null;
}

interface QuoteChoiceProps {
  /** `native` or the address of a token. */
  quote: string;
  /** What can be chosen beside the coin. */
  found: readonly Quote[];
  onChange: (quote: string | null) => void;
}

/** Nothing if the coin is all that can be chosen. */
export function QuoteChoice({ quote, found, onChange }: QuoteChoiceProps) {
  const names = new Map([['native', COIN]]);
  if (quote !== 'native') names.set(quote, shortHex(quote));
  for (const { tokenAddress, symbol } of found)
    if (tokenAddress !== null)
      names.set(tokenAddress, `${safeName(symbol ?? '')} (${shortHex(tokenAddress)})`);
  if (names.size < 2) return null;
  return (
    <select
      aria-label="Counted in"
      value={quote}
      onChange={({ currentTarget: { value } }) => onChange(value === 'native' ? null : value)}
    >
      {[...names].map(([value, name]) => (
        <option key={value} value={value}>
          in {name}
        </option>
      ))}
    </select>
  );
}
