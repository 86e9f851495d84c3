/**
 * Real chain data beside the repository: recorded node answers, and results computed by others. It is used in place and
 * is not part of the repository, so tests that need it report that they were left out without it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

const FOLDER = resolve(import.meta.dirname, '../../../../shared/data/real');

/** The folder of the recorded data, or null if absent. */
export function recordedData(): string | null {
  return existsSync(join(FOLDER, 'replay')) ? FOLDER : null;
}

/** The folder, or null after the test was reported as left out: `if (!folder) return;` must follow. */
export function recordedDataOrSkip(context: { skip(reason: string): void }): string | null {
  const folder = recordedData();
  if (folder === null) context.skip(`left out: there is no recorded chain data in ${FOLDER}`);
  return folder;
}

/** Path of a dataset's exchanges, such as `eth-17686164` or `polygon-sparse-traced.rechained`. */
export function recordedFile(folder: string, dataset: string): string {
  return join(folder, 'replay', `${dataset}.replay.jsonl.gz`);
}

/** Counts, tokens, wallets and largest transfers of a dataset. */
export function readSummary(folder: string, dataset: string): RecordedSummary {
  return JSON.parse(readFileSync(join(folder, 'expected', `${dataset}.summary.json`), 'utf8'));
}

/** Every line of `expected/<dataset>.<kind>.jsonl.gz`. */
export function readExpected<K extends keyof ExpectedLines>(
  folder: string,
  dataset: string,
  kind: K,
): ExpectedLines[K][] {
  const text = gunzipSync(readFileSync(join(folder, 'expected', `${dataset}.${kind}.jsonl.gz`))).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The line format of each kind; amounts are decimal strings. */
interface ExpectedLines {
  transfers: RecordedTransfer;
  'native-net': NativeNet;
  'erc20-storage': Erc20Storage;
  'coinbase-token-transfers': TokenTransfer & { standard: 'erc20' | 'erc721'; tokenId?: string };
  'etl-token-transfers': TokenTransfer;
  withdrawals: { block: number; credits: [address: string, wei: string][] };
  rosetta: {
    block: number;
    txHash: string;
    netTransfers: Record<string, string>;
    ops: [type: string, status: string, account: string, value: string, currency: string][];
  };
}

/** A transfer in chain order, by the decoder of the collection. */
interface RecordedTransfer {
  block: number;
  tx: number;
  hash: string;
  kind: 'native' | 'internal' | 'erc20' | 'erc721' | 'erc1155' | 'irregular' | 'irregular1155';
  from: string;
  to: string;
  amount: string;
  token?: string;
  logIndex?: number;
  tokenId?: string;
  batchIndex?: number;
  /** Of an irregular one. */
  topics?: number;
  dataBytes?: number;
  /** Position in the call tree of an internal transfer, such as `3.0`. */
  path?: string;
  op?: string;
}

/** The native balance changes of a transaction, from state changes rather than traces. */
interface NativeNet {
  block: number;
  txHash: string;
  /** Signed wei by address, without fees. */
  netTransfers: Record<string, string>;
  /** Every move in order, if known. */
  moves?: [from: string, to: string, wei: string][];
}

/** A token's balances according to its storage. */
interface Erc20Storage {
  token: string;
  /** Whether an index of transfers must show exactly `storageDelta` for every holder. */
  allMatch: boolean;
  holders: { holder: string; storageDelta: string; logDelta: string; before: string; after: string }[];
}

interface TokenTransfer {
  block: number;
  txHash: string;
  logIndex: number;
  token: string;
  from: string;
  to: string;
  value: string;
}

interface RecordedFunding {
  funder: string;
  amountWei: string;
  txHash: string;
  block: number;
}

interface RecordedSummary {
  dataset: string;
  traced: boolean;
  blocks: number;
  firstBlock: number;
  lastBlock: number;
  transactions: number;
  failedTransactions: number;
  receiptsWithoutStatus: number;
  logs: number;
  transferRows: Record<RecordedTransfer['kind'], number>;
  erc1155Events: number;
  erc1155BatchRows: number;
  zeroAmountTokenRows: number;
  selfTransfers: number;
  distinctTokens: number;
  tokens: {
    token: string;
    standard: string;
    transferRows: number;
    /** Holders whose deltas in this range sum to more than zero. */
    holdersWithPositiveDelta: number;
    uniqueWalletsExcludingZero: number;
    firstSeenBlock: number;
    topHolders: { address: string; delta: string }[];
  }[];
  wallets: {
    address: string;
    nativeInWei: string;
    nativeOutWei: string;
    transactionsSent: number;
    firstDirectFunding: RecordedFunding | null;
    firstInternalFunding: RecordedFunding | null;
  }[];
  largestNative: {
    block: number;
    hash: string;
    kind: 'native' | 'internal';
    from: string;
    to: string;
    amount: string;
  }[];
}
