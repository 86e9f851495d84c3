/** Compares the index with the node, check by check. Read-only. */
import { deriveLoadRules, type LoadRules } from '../indexer/backfill/load-blocks.ts';
import { wrongChainError } from '../indexer/node-chain.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Random } from '../lib/random.ts';
import { type Capabilities, internalTransfers } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchBlockNumber } from '../node/methods.ts';
import type { Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { traceGapRanges } from '../store/trace-gaps.ts';
import { blockComparer, type CompareBlock } from './block-comparer.ts';
import { checkAllBlocks } from './check-all-blocks.ts';
import { checkBalances } from './check-balances.ts';
import { checkHashes } from './check-blocks.ts';
import { checkNative } from './check-native.ts';
import { Check, runCheck, type TokenVerdict, type VerifyReport } from './report.ts';
import { forEachConcurrently, sampleRange } from './sample.ts';
import { checkFileContents, withIndex } from './verify-file.ts';

/** Default of `sample`, the number of wallets to recount. The sizes of the other checks follow from it. */
export const DEFAULT_SAMPLE = 200;

/** Per unit of the sample size: hashes, decoded blocks, tokens examined and native wallets. */
const HASHES_PER_SAMPLE = 50;
const BLOCKS_PER_SAMPLE = 1 / 5;
const TOKENS_PER_SAMPLE = 1 / 8;
const NATIVE_PER_SAMPLE = 1 / 4;

/** Blocks decoded at the same time. */
const BLOCK_CONCURRENCY = 4;

interface VerifyOptions {
  path: string;
  client: RpcClient;
  capabilities: Capabilities;
  /** Wrapped native contracts in addition to those known for the chain. */
  wrappedNative: readonly string[];
  sample: number;
  /** Compare everything with the node, not only samples. */
  all?: boolean;
  random: Random;
  signal: AbortSignal;
  /** Called with a description of the current work. */
  onProgress(text: string): void;
}

/**
 * Throws FatalError when there is no index to verify, UpstreamError when the node does not answer at first. If the node
 * fails during a check, that check is reported as unfinished.
 */
export async function verifyIndex(options: VerifyOptions): Promise<VerifyReport> {
  const { path, client, capabilities, signal } = options;
  return withIndex(path, async (db, { chainId, startBlock }, tip) => {
    if (chainId !== capabilities.chainId) throw wrongChainError(chainId, capabilities.chainId);
    const node = { client: capabilities.client, head: await fetchBlockNumber(client, signal) };
    return { node, ...(await new Verification(db, options, startBlock, tip).runChecks()) };
  });
}

/** One running verification. */
class Verification {
  private readonly db: Db;
  private readonly options: VerifyOptions;
  private readonly startBlock: number;
  private readonly tip: Tip;
  private readonly compareBlock: CompareBlock;
  private readonly rules: LoadRules;

  constructor(db: Db, options: VerifyOptions, startBlock: number, tip: Tip) {
    const rules = deriveLoadRules(options.capabilities, options.wrappedNative);
    this.db = db;
    this.options = options;
    this.startBlock = startBlock;
    this.tip = tip;
    this.compareBlock = blockComparer(db, options.client, rules);
    this.rules = rules;
  }

  async runChecks(): Promise<Pick<VerifyReport, 'checks' | 'tokens'>> {
    const { all, sample, random } = this.options;
    const [transfers, roots] = [new Check('transfers'), new Check('roots')];
    const [native, balances] = [new Check('native'), new Check('balances')];
    const { file, blocks, checksums, wallets, tokens } = await checkFileContents(
      this.db,
      this.options,
      all ? {} : { sample: { size: sample, random }, compareHashes: (check) => this.compareHashes(check) },
    );
    await this.runCheck(transfers, () => {
      this.noteTraceGaps(transfers);
      if (!all) return this.compareTransfers(transfers);
      return checkAllBlocks(this.db, { transfers, roots }, { ...this.options, rules: this.rules });
    });
    await this.runCheck(native, () => this.compareNative(native));
    let verdicts: TokenVerdict[] = [];
    await this.runCheck(balances, async () => {
      verdicts = await this.compareBalances(balances);
    });
    const checks = all
      ? [file, blocks, checksums, wallets, tokens, transfers, roots, native, balances]
      : [file, blocks, checksums, transfers, wallets, tokens, native, balances];
    return { checks, tokens: verdicts };
  }

  private async runCheck(check: Check, work: () => void | Promise<void>): Promise<void> {
    this.options.onProgress(check.name);
    await runCheck(check, this.options.signal, work);
  }

  private compareBalances(check: Check): Promise<TokenVerdict[]> {
    const { client, sample, random, signal, onProgress } = this.options;
    const { db, startBlock, compareBlock } = this;
    const { wrappedNative } = this.rules;
    return checkBalances(check, {
      context: { db, client, startBlock, wrappedNative, random, signal },
      compareBlock,
      count: Math.ceil(sample * TOKENS_PER_SAMPLE),
      onProgress: (done) => onProgress(`balances ${Math.floor(done * 100)} %`),
    });
  }

  private async compareHashes(check: Check): Promise<void> {
    const { client, sample, random, signal } = this.options;
    await checkHashes(this.db, client, check, {
      from: this.startBlock,
      to: this.tip.number,
      count: sample * HASHES_PER_SAMPLE,
      random,
      signal,
    });
  }

  /** Records the trace gaps, whether or not a sample hits them. */
  private noteTraceGaps(check: Check): void {
    for (const { first, last } of traceGapRanges(this.db)) {
      const untraced = { first, last, blocks: last - first + 1 };
      const { reason } = internalTransfers({ capabilities: this.options.capabilities, untraced });
      if (reason !== null) check.addNote(reason);
    }
  }

  /** Decodes sampled blocks again and compares every transfer. */
  private async compareTransfers(check: Check): Promise<void> {
    const { sample, random, onProgress } = this.options;
    const numbers = sampleRange(
      random,
      this.startBlock,
      this.tip.number,
      Math.ceil(sample * BLOCKS_PER_SAMPLE),
    );
    let compared = 0;
    await forEachConcurrently(numbers, BLOCK_CONCURRENCY, this.options.signal, async (number, signal) => {
      try {
        const difference = await this.compareBlock(number, signal);
        if (difference !== null) check.addDifference(difference, number);
        onProgress(`transfers of block ${number}`);
        compared++;
      } catch (error) {
        if (!(error instanceof UpstreamError) || signal.aborted) throw error;
        check.addNote(`block ${number} could not be read: ${error.message}`);
      }
    });
    check.compared = `all transfers of ${compared} blocks, decoded again`;
    check.share = compared / (this.tip.number - this.startBlock + 1);
  }

  private async compareNative(check: Check): Promise<void> {
    const { capabilities, client, sample, signal } = this.options;
    if (capabilities.traces === null)
      return check.addNote(
        `not compared: internal transfers are unknown (${capabilities.tracesReason ?? 'no traces'})`,
      );
    if (!capabilities.blockReceipts)
      return check.addNote('not compared: the node does not offer eth_getBlockReceipts');
    await checkNative(check, {
      db: this.db,
      client,
      compareBlock: this.compareBlock,
      startBlock: this.startBlock,
      wallets: Math.ceil(sample * NATIVE_PER_SAMPLE),
      signal,
    });
  }
}
