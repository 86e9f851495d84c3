/** Transfers of a token out of its logs. Pure functions. */

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** First topics of the transfer events. */
export const TRANSFER_TOPICS = [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH];

/**
 * @typedef {object} TokenEvent
 * @property {number} block
 * @property {string} txHash
 * @property {string} from
 * @property {string} to
 * @property {'erc20' | 'erc721' | 'erc1155'} transferType
 * @property {string | null} amount base units, null where several ids are moved at once
 * @property {string | null} tokenId
 */

/**
 * The event of a log, or null for one of another form.
 * @param {import('./api-types.js').Log} log
 * @returns {TokenEvent | null}
 */
export function decodeTransferLog({ topics, data, blockNumber, transactionHash }) {
  const multi = topics[0] === TRANSFER_SINGLE || topics[0] === TRANSFER_BATCH;
  const [from, to] = multi ? [topics[2], topics[3]] : [topics[1], topics[2]];
  if (from === undefined || to === undefined || !isWellFormed(topics, data)) return null;
  return {
    block: Number(blockNumber),
    txHash: transactionHash,
    from: addressOf(from),
    to: addressOf(to),
    ...movedBy(topics, data),
  };
}

/**
 * Whether the data is as long as the standard has it; the index leaves out the others too.
 * @param {string[]} topics
 * @param {string} data
 */
function isWellFormed([kind, ...values], data) {
  const words = (data.length - 2) / 64;
  if (kind === TRANSFER_BATCH) return words >= 4;
  if (kind === TRANSFER_SINGLE) return words === 2;
  return words === (values.length === 3 ? 0 : 1);
}

/**
 * @param {string[]} topics
 * @param {string} data
 * @returns {Pick<TokenEvent, 'transferType' | 'amount' | 'tokenId'>}
 */
function movedBy([kind, , , id], data) {
  if (kind === TRANSFER_BATCH) return { transferType: 'erc1155', amount: null, tokenId: null };
  if (kind === TRANSFER_SINGLE)
    return { transferType: 'erc1155', amount: String(word(data, 1)), tokenId: String(word(data, 0)) };
  if (id === undefined) return { transferType: 'erc20', amount: String(word(data, 0)), tokenId: null };
  return { transferType: 'erc721', amount: '1', tokenId: String(BigInt(id)) };
}

/**
 * Events per block over a range, oldest first.
 * @param {readonly TokenEvent[]} events
 * @param {number} from
 * @param {number} to
 * @returns {{ block: number, count: number }[]}
 */
export function countByBlock(events, from, to) {
  const counts = Array.from({ length: to - from + 1 }, (_, i) => ({ block: from + i, count: 0 }));
  for (const { block } of events) {
    const bar = counts[block - from];
    if (bar !== undefined) bar.count++;
  }
  return counts;
}

/** @param {string} topic */
function addressOf(topic) {
  return `0x${topic.slice(-40)}`;
}

/**
 * @param {string} data
 * @param {number} index
 */
function word(data, index) {
  const digits = data.slice(2 + index * 64, 66 + index * 64);
  return digits === '' ? 0n : BigInt(`0x${digits}`);
}
