/** Loads recorded files: the exchanges that make up blocks, and all others, which are answered verbatim. */
import { quantityToNumber } from '../../../../src/lib/hex.ts';
import type { BlockPart, StoredBlock } from '../blocks/block.ts';
import { isCallTracer } from '../methods/traces.ts';
import type { StoredText, TextStore } from '../text-store.ts';
import { type Exchange, parseExchange } from './exchange.ts';
import { readLines } from './lines.ts';

export interface RecordedAnswer {
  isError: boolean;
  body: StoredText;
}

export interface Recording {
  /** Quantity, or null if no file has it. */
  chainId: string | null;
  /** Decimal, or null if no file has it. */
  networkId: string | null;
  /** By number ascending. */
  blocks: StoredBlock[];
  /** By `exchangeKey`. */
  answers: Map<string, RecordedAnswer>;
}

type PartialBlock = { hash: string | null } & { [part in BlockPart]: StoredText | null };

const HASH_FIELD = /"hash"\s*:\s*"(0x[0-9a-fA-F]{64})"/;

/** Key of a recorded answer: the method and the exact parameters. */
export function exchangeKey(method: string, params: readonly unknown[]): string {
  return method + JSON.stringify(params);
}

/** Rejects when a file is unreadable or a line is not an exchange. */
export async function loadRecording(files: readonly string[], store: TextStore): Promise<Recording> {
  const blocks = new Map<number, PartialBlock>();
  const recording: Recording = { chainId: null, networkId: null, blocks: [], answers: new Map() };
  for (const file of files) {
    let lineNumber = 0;
    for await (const line of readLines(file)) {
      lineNumber++;
      addExchange(recording, blocks, store, parseLine(line, file, lineNumber));
    }
  }
  recording.blocks = completeBlocks(blocks);
  return recording;
}

function parseLine(line: Buffer, file: string, lineNumber: number): Exchange {
  try {
    return parseExchange(line);
  } catch (cause) {
    throw new Error(`${file}, line ${lineNumber}: not a recorded JSON-RPC exchange`, { cause });
  }
}

function addExchange(
  recording: Recording,
  blocks: Map<number, PartialBlock>,
  store: TextStore,
  exchange: Exchange,
): void {
  const { method, params, isError, body } = exchange;
  const part = blockPart(exchange);
  const number = quantityToNumber(params[0]);
  if (part !== null && !Number.isNaN(number)) {
    const block = blocks.get(number) ?? {
      hash: null,
      block: null,
      receipts: null,
      trace: null,
      flatTrace: null,
    };
    blocks.set(number, block);
    if (part === 'block') block.hash = hashOf(body);
    block[part] = store.keep(body);
  } else if (method === 'eth_chainId' && !isError) recording.chainId = JSON.parse(body.toString());
  else if (method === 'net_version' && !isError) recording.networkId = JSON.parse(body.toString());
  else recording.answers.set(exchangeKey(method, params), { isError, body: store.keep(body) });
}

/** The part of a block in the exchange, or null for any other exchange. */
function blockPart({ method, params, isError, body }: Exchange): BlockPart | null {
  if (isError || body.toString('latin1', 0, 4) === 'null') return null;
  if (method === 'eth_getBlockByNumber') return params[1] === true ? 'block' : null;
  if (method === 'eth_getBlockReceipts') return 'receipts';
  if (method === 'debug_traceBlockByNumber') return isCallTracer(params[1]) ? 'trace' : null;
  if (method === 'trace_block') return params.length === 1 ? 'flatTrace' : null;
  return null;
}

/** The block's own hash: the first `hash` that is not a transaction's. */
function hashOf(body: Buffer): string {
  const text = body.toString('latin1');
  const transactions = text.indexOf('"transactions"');
  const match = HASH_FIELD.exec(transactions < 0 ? text : text.slice(0, transactions));
  if (match?.[1]) return match[1].toLowerCase();
  const block: { hash: string } = JSON.parse(body.toString());
  return block.hash.toLowerCase();
}

/** The blocks for which at least the block itself is recorded, in order. */
function completeBlocks(blocks: Map<number, PartialBlock>): StoredBlock[] {
  const complete: StoredBlock[] = [];
  for (const [number, { hash, block, receipts, trace, flatTrace }] of blocks) {
    if (hash === null || block === null) continue;
    complete.push({ number, hash, block, receipts, trace, flatTrace });
  }
  return complete.sort((a, b) => a.number - b.number);
}
