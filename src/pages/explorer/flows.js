/** The balance that transfers leave behind, over time. Pure functions on exact integers. */
import { NATIVE_DECIMALS } from '../ui/format.js';

/**
 * @typedef {object} Asset
 * @property {string} id `native`, or the address of a token
 * @property {string} name
 * @property {number} decimals
 * @property {number} count transfers of it among those loaded
 */

/** @typedef {{ at: number, block: number, balance: bigint, change: bigint }} FlowPoint */

/**
 * The assets of transfers whose amounts can be added up, the native coin first, then by number of transfers.
 * @param {readonly import('./api-types.js').Transfer[]} transfers
 * @param {string} coin
 * @param {(address: string, symbol: string | null) => string} nameOf
 * @returns {Asset[]}
 */
export function assetsOf(transfers, coin, nameOf) {
  /** @type {Map<string, Asset>} */
  const assets = new Map([['native', { id: 'native', name: coin, decimals: NATIVE_DECIMALS, count: 0 }]]);
  for (const transfer of transfers) {
    if (transfer.transferType === 'erc721' || transfer.transferType === 'erc1155') continue;
    const id = assetId(transfer);
    const known = assets.get(id);
    if (known !== undefined) known.count++;
    else
      assets.set(id, { id, name: nameOf(id, transfer.symbol), decimals: transfer.decimals ?? 0, count: 1 });
  }
  const [native, ...tokens] = assets.values();
  return [...(native === undefined ? [] : [native]), ...tokens.sort((a, b) => b.count - a.count)];
}

/**
 * The balance after each transaction, oldest first. It is reckoned backwards from the `present` balance, so it is
 * exact however few of the older transfers are known.
 * @param {readonly import('./api-types.js').Transfer[]} transfers newest first
 * @param {string} asset
 * @param {string} wallet
 * @param {bigint} present
 * @returns {FlowPoint[]}
 */
export function flowPoints(transfers, asset, wallet, present) {
  /** @type {FlowPoint[]} */
  const points = [];
  let balance = present;
  let last = '';
  for (const transfer of transfers) {
    if (assetId(transfer) !== asset) continue;
    const change = changeOf(transfer, wallet);
    const newest = points.at(-1);
    if (newest !== undefined && last === transfer.txHash) newest.change += change;
    else points.push({ at: Date.parse(transfer.timestamp), block: transfer.blockNumber, balance, change });
    balance -= change;
    last = transfer.txHash;
  }
  return points.reverse();
}

/**
 * What all transfers of an asset come to.
 * @param {readonly import('./api-types.js').Transfer[]} transfers
 * @param {string} asset
 * @param {string} wallet
 */
export function sumOf(transfers, asset, wallet) {
  return transfers.reduce(
    (sum, transfer) => (assetId(transfer) === asset ? sum + changeOf(transfer, wallet) : sum),
    0n,
  );
}

/** @param {import('./api-types.js').Transfer} transfer */
function assetId({ tokenAddress }) {
  return tokenAddress ?? 'native';
}

/**
 * @param {import('./api-types.js').Transfer} transfer
 * @param {string} wallet
 */
function changeOf({ from, to, amount }, wallet) {
  if (from === to) return 0n;
  return to === wallet ? BigInt(amount) : -BigInt(amount);
}
