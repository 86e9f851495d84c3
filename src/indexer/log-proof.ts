/** Compares logs with the blooms about them, which tells an unusual numbering of logs from lost logs. */
import { hasBloomBits, type LogProof } from '../decode/bloom.ts';
import { type JsonObject, readArray, readData, readObject, readStatus } from '../decode/read-json.ts';
import { UpstreamError } from '../lib/errors.ts';
import { hexToBytes } from '../lib/hex.ts';

const BLOOM_BYTES = 256;

export async function proveLogs({ logsBloom }: JsonObject, receipts: unknown): Promise<LogProof> {
  const { keccak256 } = await import('viem/utils'); // lazy: rarely needed, and large for a backfill worker
  const addTo = (bloom: Uint8Array, item: string): void => {
    const hash = keccak256(hexToBytes(item), 'bytes');
    for (const i of [0, 2, 4]) {
      const bit = ((hash[i]! << 8) | hash[i + 1]!) & 2047;
      bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  };
  const all = new Uint8Array(BLOOM_BYTES);
  let [lacks, isUnknown, hasFailed] = [false, false, false];
  try {
    for (const item of readArray(receipts, 'receipts')) {
      const receipt = readObject(item, 'receipt');
      const logs = readArray(receipt['logs'], 'receipt logs').map((log) => readObject(log, 'log'));
      hasFailed ||= readStatus(receipt['status']) === false;
      const own = new Uint8Array(BLOOM_BYTES);
      for (const { address, topics } of logs)
        for (const part of [address, ...readArray(topics, 'log topics')]) addTo(own, readData(part, 'log'));
      for (const [i, byte] of own.entries()) all[i]! |= byte;
      if (!hasBloomBits(receipt['logsBloom'])) {
        isUnknown ||= logs.length > 0;
        continue;
      }
      const bloom = hexToBytes(readData(receipt['logsBloom'], 'logsBloom'));
      if (!own.every((byte, i) => (byte & ~bloom[i]!) === 0)) return 'other';
      lacks ||= !own.every((byte, i) => byte === bloom[i]);
    }
    // Cosmos chains also add the logs that a failed transaction lost.
    if (hasBloomBits(logsBloom) && !hasFailed) {
      const bloom = hexToBytes(readData(logsBloom, 'logsBloom'));
      lacks ||= !bloom.every((byte, i) => (byte & ~all[i]!) === 0);
    }
  } catch (error) {
    if (error instanceof RangeError || error instanceof UpstreamError) return 'unknown';
    throw error;
  }
  if (lacks) return 'lacking';
  return isUnknown ? 'unknown' : 'complete';
}
