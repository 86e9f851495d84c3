/** Decodes a token's transfers from its logs. Pure functions. */
import type { TokenKindName } from '../../../model/transfer-kind.ts';
import type { NodeLog } from '../../client/node-types.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** First topics of the transfer events. */
export const TRANSFER_TOPICS = [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH];

/** Hex digits per data word. */
const WORD = 64;

export interface TokenEvent {
  /** Distinguishes it from the other events of its transaction. */
  key: string;
  block: number;
  txHash: string;
  from: string;
  to: string;
  transferType: TokenKindName;
  amount: string;
  tokenId: string | null;
}

/** The transfers of a log, as the API shows those of its token. `viewKind`: the token's type if its logs have another form. */
export function decodeTransfer(log: NodeLog, viewKind: TokenKindName | null = null): TokenEvent[] {
  return decodeLog(log).map((event) => {
    const { transferType, amount, tokenId } = event;
    if (viewKind === 'erc721' && transferType === 'erc20')
      return { ...event, transferType: viewKind, amount: '1', tokenId: amount };
    if (viewKind === 'erc20' && transferType === 'erc721')
      return { ...event, transferType: viewKind, amount: tokenId ?? amount, tokenId: null };
    return event;
  });
}

/** The transfers of a log by its form, in order; none for a log that follows no standard. The index skips those too. */
function decodeLog(log: NodeLog): TokenEvent[] {
  const { data } = log;
  const topics = log.topics ?? [];
  const words = data.slice(2).match(/.{64}/g) ?? [];
  const [kind] = topics;
  const isMulti = kind !== TRANSFER;
  const isUnindexed = kind === TRANSFER && topics.length === 1 && words.length === 3;
  const [from, to] = isUnindexed ? words : isMulti ? [topics[2], topics[3]] : [topics[1], topics[2]];
  if (from === undefined || to === undefined) return [];
  const make = (
    transferType: TokenEvent['transferType'],
    amount: bigint,
    tokenId: bigint | null,
    i = 0,
  ): TokenEvent => ({
    key: `${log.transactionHash} ${log.logIndex} ${i}`,
    block: Number(log.blockNumber),
    txHash: log.transactionHash,
    from: addressOf(from),
    to: addressOf(to),
    transferType,
    amount: amount.toString(),
    tokenId: tokenId?.toString() ?? null,
  });
  const isWhole = data.length === 2 + words.length * WORD;
  if (isUnindexed && isWhole) return [make('erc721', 1n, word(words[2]))];
  if (kind === TRANSFER && topics.length === 3 && isWhole && words.length === 1)
    return [make('erc20', word(words[0]), null)];
  if (kind === TRANSFER && topics.length === 4 && words.length === 0)
    return [make('erc721', 1n, BigInt(topics[3] ?? 0))];
  if (kind === TRANSFER_SINGLE && isWhole && words.length === 2)
    return [make('erc1155', word(words[1]), word(words[0]))];
  if (kind !== TRANSFER_BATCH || !isWhole) return [];
  const ids = wordList(words, 0);
  const amounts = wordList(words, 1);
  if (ids.length !== amounts.length) return [];
  return ids.map((id, i) => make('erc1155', amounts[i] ?? 0n, id, i));
}

/** The list whose offset is in word `at`. */
function wordList(words: readonly string[], at: number): bigint[] {
  const start = Number(word(words[at])) / 32;
  const length = Number(word(words[start]));
  const items = words.slice(start + 1, start + 1 + length);
  return items.length === length ? items.map(word) : [];
}

function word(hex: string | undefined): bigint {
  return hex === undefined ? 0n : BigInt(`0x${hex}`);
}

function addressOf(topic: string): string {
  return `0x${topic.slice(-40)}`;
}
