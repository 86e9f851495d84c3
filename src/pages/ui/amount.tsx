/** An amount: short, with the full value to copy. */
import { TRANSFER_KINDS } from '../../model/transfer-kind.ts';
import { Copy } from './copy.tsx';
import { safeName, shortAmount, shortId, unitsToText } from './format.ts';
import { Link, nftPath } from './link.tsx';

interface AmountProps {
  /** Exact decimal text. */
  text: string;
  symbol?: string | null;
  sign?: 'in' | 'out' | null;
  /** It counts base units, since the decimals are unknown. */
  inUnits?: boolean;
}

export function Amount({ text, symbol, sign = null, inUnits = false }: AmountProps) {
  const short = shortAmount(text);
  const isCut = short.replaceAll(',', '') !== text.replace('-', '−');
  const name = safeName(symbol ?? '');
  const counted = inUnits ? ' units' : '';
  const shownSign = text === '0' ? null : sign;
  return (
    <span
      class={`amount with-copy ${shownSign ?? ''}`}
      title={isCut ? `${text}${counted} ${name}` : undefined}
    >
      {shownSign === 'in' ? '+' : shownSign === 'out' ? '−' : ''}
      {short}
      {counted}
      {name !== '' && (
        <>
          {' '}
          <bdi class="symbol">{name}</bdi>
        </>
      )}
      {isCut && <Copy text={text} what="the full amount" />}
    </span>
  );
}

interface UnitsProps extends Omit<AmountProps, 'text' | 'inUnits'> {
  units: string;
  /** Null while unknown. Base units are shown then. */
  decimals: number | null;
}

export function Units({ units, decimals, ...rest }: UnitsProps) {
  return <Amount text={unitsToText(BigInt(units), decimals ?? 0)} inUnits={decimals === null} {...rest} />;
}

interface SignedProps {
  units: string;
  /** What it is counted in. */
  of: Pick<UnitsProps, 'decimals' | 'symbol'>;
}

/** An amount that may be below zero, with its sign. */
export function Signed({ units, of: { decimals, symbol } }: SignedProps) {
  const isLoss = units.startsWith('-');
  const size = isLoss ? units.slice(1) : units;
  return <Units units={size} decimals={decimals} symbol={symbol} sign={isLoss ? 'out' : 'in'} />;
}

interface TransferAmountProps extends UnitsProps {
  /** Its number leads to the page of that NFT. */
  token?: string | null;
  tokenId: string | null;
  transferType: string;
}

function movesOne(transferType: string): boolean {
  return TRANSFER_KINDS.some((kind) => kind.name === transferType && kind.movesOne);
}

/** The value of a transfer: an amount, or a token by its number, with the units where there may be several. */
export function TransferAmount({ token = null, tokenId, transferType, ...amount }: TransferAmountProps) {
  if (tokenId === null) return <Units {...amount} />;
  const number = shortId(tokenId);
  const sign = amount.sign ?? '';
  return (
    <span class={`amount with-copy ${sign}`} title={`Token number ${tokenId}`}>
      {!movesOne(transferType) && `${shortAmount(amount.units)} × `}
      {token === null ? `#${number}` : <Link to={nftPath(token, tokenId)}>#{number}</Link>}
      {number !== tokenId && <Copy text={tokenId} what="token number" />}
    </span>
  );
}
