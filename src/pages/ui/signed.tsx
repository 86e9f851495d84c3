/** An amount that may be below zero. */
import { Amount } from './amount.tsx';
import { unitsToText } from './format.ts';

interface SignedProps {
  units: string;
  /** What it is counted in. */
  of: { decimals: number | null; symbol: string | null };
}

export function Signed({ units, of: { decimals, symbol } }: SignedProps) {
  const isLoss = units.startsWith('-');
  const text = unitsToText(BigInt(isLoss ? units.slice(1) : units), decimals ?? 0);
  return <Amount text={text} symbol={symbol} sign={isLoss ? 'out' : 'in'} />;
}
