/** What a transaction did, in words with links. */
import { Address, TokenLink } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { shortId } from '../../ui/format.ts';
import { COIN } from '../coin.ts';
import { type Part, type Sentence, timesText } from './sentences.ts';

export function Words({ sentences }: { sentences: readonly Sentence[] }) {
  return (
    <>
      {sentences.map((sentence, i) => (
        <p key={i} class="words">
          {sentence.map((part, at) => (
            <Piece key={at} part={part} />
          ))}
        </p>
      ))}
    </>
  );
}

function Piece({ part }: { part: Part }) {
  if (typeof part === 'string') return <>{part}</>;
  if (part.kind === 'address') return <Address address={part.address} label={part.label} />;
  if (part.kind === 'nft')
    return (
      <span class="nowrap">
        {timesText(part.count)}
        <TokenLink token={part.token} symbol={part.symbol} />{' '}
        <span title={part.tokenId}>#{shortId(part.tokenId)}</span>
      </span>
    );
  const { units, decimals, symbol, token } = part;
  return (
    <span class="nowrap">
      <Units units={units} decimals={decimals} />{' '}
      {token === null ? (symbol ?? COIN) : <TokenLink token={token} symbol={symbol} />}
    </span>
  );
}
