/** An image of an address: five by five fields, mirrored, to tell two addresses apart at a glance. */

const FIELDS = 5;

export function Identicon({ address, size = 14 }: { address: string; size?: number }) {
  const digits = address.slice(2);
  const isFilled = (column: number, row: number) => {
    const mirrored = Math.min(column, FIELDS - 1 - column);
    return Number.parseInt(digits[mirrored * FIELDS + row] ?? '0', 16) % 2 === 1;
  };
  const path = Array.from(
    { length: FIELDS * FIELDS },
    (_, n) => [n % FIELDS, Math.floor(n / FIELDS)] as const,
  )
    .filter(([column, row]) => isFilled(column, row))
    .map(([column, row]) => `M${column} ${row}h1v1h-1z`)
    .join('');
  if (path === '') return null; // the zero address
  const hue = Number.parseInt(digits.slice(-3), 16) % 12;
  return (
    <svg class={`identicon hue-${hue}`} viewBox="-1 -1 7 7" width={size} height={size} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
