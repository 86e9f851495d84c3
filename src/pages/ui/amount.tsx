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
}

export function Amount({ text, symbol, sign = null }: AmountProps) {
  const short = shortAmount(text);
  const isCut = short.replaceAll(',', '') !== text.replace('-', '−');
  const name = safeName(symbol ?? '');
  const shownSign = text === '0' ? null : sign;
  return (
    <span class={`amount with-copy ${shownSign ?? ''}`} title={isCut ? `${text} ${name}` : undefined}>
      {shownSign === 'in' ? '+' : shownSign === 'out' ? '−' : ''}
      {short}
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

interface UnitsProps extends Omit<AmountProps, 'text'> {
  units: string;
  /** Null while unknown. Base units are shown then. */
  decimals: number | null;
}

/** What an amount without decimals is counted in; null where it has some. */
export function unitsName(decimals: number | null): string | null {
  return decimals === null ? 'units' : null;
}

export function Units({ units, decimals, ...rest }: UnitsProps) {
  return <Amount text={unitsToText(BigInt(units), decimals ?? 0)} {...rest} />;
}

/** An amount that may be below zero, with its sign. */
export function SignedUnits({ units, ...rest }: Omit<UnitsProps, 'sign'>) {
  const isLoss = units.startsWith('-');
  return <Units units={isLoss ? units.slice(1) : units} sign={isLoss ? 'out' : 'in'} {...rest} />;
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
  if (tokenId === null) return <Units {...amount} symbol={amount.symbol ?? unitsName(amount.decimals)} />;
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
