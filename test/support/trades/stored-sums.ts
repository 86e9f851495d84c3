/** Reads the sums of trades of an index, and makes those that it must have, both with code of their own. */
import { dirname } from 'node:path';
import { openDatabase } from '../../../src/store/open-database.ts';
import { indexedTransfers } from '../index/index-rows.ts';
import { type PlainLists, PlainTrades } from './plain-trades.ts';

/** A line for each wallet, token and quote, sorted. */
export function storedSums(path: string): string[] {
  const db = openDatabase(path, { readonly: true });
  try {
    const contracts = new Map<number, string>([[0, 'native']]);
    const tokens = db.prepare<[], { id: number; address: string }>(
      "SELECT t.id, '0x' || lower(hex(address)) AS address FROM tokens t JOIN wallets w ON w.id = t.wallet",
    );
    for (const { id, address } of tokens.all()) contracts.set(id, address);
    const rows = db.prepare<[], { token: number; address: string; sums: Buffer }>(/* sql */ `
      SELECT token, '0x' || lower(hex(address)) AS address, sums FROM trade_sums JOIN wallets w ON w.id = wallet
      WHERE generation = (SELECT min(generation) FROM trade_rules)`);
    return rows
      .all()
      .flatMap(({ token, address, sums }) =>
        unpack(sums).map(([quote, ...values]) =>
          [address, contracts.get(token), contracts.get(Number(quote)), ...values].join(' '),
        ),
      )
      .sort();
  } finally {
    db.close();
  }
}

/** Quote, buys, bought, spent, sells, sold, received of each entry. */
function unpack(bytes: Buffer): bigint[][] {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const amount = () => {
    const length = bytes.readUInt8(at++);
    at += length;
    return BigInt(`0x${bytes.subarray(at - length, at).toString('hex')}`);
  };
  const found: bigint[][] = [];
  while (at < bytes.length) {
    const head = varint();
    const side = (bit: bigint) => ((head & bit) === 0n ? [0n, 0n, 0n] : [varint(), amount(), amount()]);
    const buys = side(1n);
    found.push([head >> 2n, ...buys, ...side(2n)]);
  }
  return found;
}

/** The same lines from the transfers. `isGap`: the blocks whose trades do not count. */
export function plainSums(path: string, lists: PlainLists, isGap: (block: number) => boolean): string[] {
  const plain = new PlainTrades(indexedTransfers(dirname(path)), lists);
  const sums = new Map<string, bigint[]>();
  for (const [wallet, trades] of plain.byWallet)
    for (const { block, kind, given, received, asset, quote } of trades) {
      if (asset === null || quote === null || asset.standard === 'erc1155' || isGap(block)) continue;
      const key = `${wallet} ${asset.contract ?? 'native'} ${quote}`;
      const values = sums.get(key) ?? [0n, 0n, 0n, 0n, 0n, 0n];
      sums.set(key, values);
      const isBuy = kind === 'buy';
      const amounts = isBuy
        ? [received[0]!.amount, given[0]!.amount]
        : [given[0]!.amount, received[0]!.amount];
      for (const [i, value] of [1n, ...amounts].entries()) values[(isBuy ? 0 : 3) + i]! += value;
    }
  return [...sums].map(([key, values]) => [key, ...values].join(' ')).sort();
}
