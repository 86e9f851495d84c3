/** Compares an index with itself and with its node, check by check, within a scope. Read-only. */
import { deriveLoadRules, type LoadRules } from '../indexer/backfill/load-blocks.ts';
import { wrongChainError } from '../indexer/node-chain.ts';
import { ruleSources, rulesOfIndex } from '../indexer/rules-of-index.ts';
import { FatalError } from '../lib/errors.ts';
import type { ConfiguredLists } from '../model/index-rules.ts';
import { type Capabilities, internalTransfers, logGapsAdvice, logGapsText } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchBlockNumber } from '../node/methods.ts';
import { BlockGapTable } from '../store/block-gaps.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import { damageOf, openIndexForReading } from '../store/index-file.ts';
import { areRulesWhole, readRules } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import { blockComparer, toleranceOf } from './block-comparer.ts';
import { checkBlocks, checkHeaders } from './check-blocks.ts';
import { checkCounters } from './check-counters.ts';
import { checkChecksums, checkContiguity, checkStructure } from './check-file.ts';
import { checkBalances, checkNative } from './check-state.ts';
import { Check, finishReport, runCheck, type TokenVerdict, type VerifyReport } from './report.ts';
import { requireSameBlocks, requireSameChain } from './same-chain.ts';
import { isAll, type Scope } from './scope.ts';

interface RunOptions {
  scope: Scope;
  signal: AbortSignal;
  /** Called with a description of the current work. */
  onProgress(text: string): void;
}

/** The node to compare with. */
interface ComparedNode {
  client: RpcClient;
  capabilities: Capabilities;
  /** Completes the rules of an index of an earlier release. */
  configured: ConfiguredLists;
}

interface VerifyOptions extends RunOptions {
  path: string;
  /** Null to examine only the file. */
  node: ComparedNode | null;
}

/**
 * Without a node, finds every changed byte of a stored fact: SQLite checks pages and rows, checksums cover the rows of
 * each block, and everything else is recounted from them. With a node, also what it would give otherwise.
 *
 * Throws FatalError when there is no index to verify or the node is on another chain, UpstreamError when the node does
 * not answer at first. If the node fails during a check, that check is reported as unfinished.
 */
export async function verifyIndex(options: VerifyOptions): Promise<VerifyReport> {
  const { path, node, signal } = options;
  const startedAt = performance.now();
  const db = openIndexForReading(path);
  try {
    const { chain, tip } = readIdentity(db, path);
    if (chain === null || tip === null)
      throw new FatalError(`${path} holds no block yet: there is nothing to verify`);
    if (node !== null && chain.chainId !== node.capabilities.chainId)
      throw wrongChainError(chain.chainId, node.capabilities.chainId);
    const report = { path, chain, tip, startedAt };
    if (node === null)
      return finishReport({ ...report, node, checks: await checkFile(db, options), tokens: [] });
    const { client, capabilities } = node;
    const seen = { client: capabilities.client, head: await fetchBlockNumber(client, signal) };
    await requireSameChain(db, { client, signal }, 'nothing else was compared');
    await requireSameBlocks(db, { client, signal }, seen.head);
    const fileChecks = await checkFile(db, options);
    const rules = loadRulesOf(db, node);
    if (rules === null) return finishReport({ ...report, node: seen, checks: fileChecks, tokens: [] });
    const run = new NodeChecks(db, options, node, rules, chain.startBlock);
    const { checks, tokens } = await run.after(fileChecks);
    return finishReport({ ...report, node: seen, checks, tokens });
  } finally {
    db.close();
  }
}

/** What the index covers. Throws FatalError if that cannot be read: there is nothing to compare then. */
function readIdentity(db: Db, path: string) {
  try {
    return { chain: chainOf(db), tip: readLastBlock(db) };
  } catch (error) {
    if (!isCorruption(error)) throw error;
    throw new FatalError(
      `${path} is damaged where it names its chain and last block (${error.message}): restore a backup, or ` +
        'move the file away to rebuild the index',
    );
  }
}

/**
 * How to decode the blocks again. Null where the file cannot say it: then nobody knows what the blocks should hold, and
 * the checks of the file have reported the damage.
 */
function loadRulesOf(db: Db, { capabilities, configured }: ComparedNode): LoadRules | null {
  try {
    if (!areRulesWhole(db)) return null;
    const made = rulesOfIndex(readRules(db), ruleSources(capabilities, configured));
    return { ...deriveLoadRules(capabilities, made), tolerance: toleranceOf(db) };
  } catch (error) {
    if (isCorruption(error)) return null;
    throw error;
  }
}

interface FileOptions extends RunOptions {
  onChangedBlock?(block: number): void;
  /** Whether to check tables again that an earlier, stopped run found intact. */
  checksAgain?: boolean;
}

/** The checks that need no node. */
export async function checkFile(
  db: Db,
  { scope, signal, onProgress, onChangedBlock, checksAgain = false }: FileOptions,
): Promise<Check[]> {
  const [file, blocks, checksums] = [new Check('file'), new Check('blocks'), new Check('checksums')];
  const [wallets, tokens] = [new Check('wallets'), new Check('tokens')];
  const show = (what: string) => (done: number) => onProgress(`${what} ${Math.floor(done * 100)} %`);
  await runCheck(file, signal, () => {
    const damage = damageOf(db);
    if (damage !== null) file.addDifference(describeMark(damage));
    return checkStructure(db, file, { signal, onProgress, checksAgain });
  });
  onProgress('blocks');
  await runCheck(blocks, signal, () => checkContiguity(db, blocks));
  await runCheck(checksums, signal, () =>
    checkChecksums(db, checksums, {
      transfers: scope.transfers,
      signal,
      onProgress: show('checksums'),
      ...(onChangedBlock && { onChangedBlock }),
    }),
  );
  await runCheck(wallets, signal, () =>
    checkCounters(db, { wallets, tokens }, scope, { signal, onProgress: show('counters') }),
  );
  return [file, blocks, checksums, wallets, tokens];
}

/** The difference to report for a marked file. */
export function describeMark(damage: string): string {
  return `a repair found the file damaged and did not finish: ${damage}`;
}

/** The checks that need a node. */
class NodeChecks {
  private readonly db: Db;
  private readonly options: VerifyOptions;
  private readonly node: ComparedNode;
  private readonly startBlock: number;
  private readonly rules: LoadRules;

  constructor(db: Db, options: VerifyOptions, node: ComparedNode, rules: LoadRules, startBlock: number) {
    this.db = db;
    this.options = options;
    this.node = node;
    this.rules = rules;
    this.startBlock = startBlock;
  }

  /** Runs the checks after those of the file. */
  async after(fileChecks: readonly Check[]): Promise<Pick<VerifyReport, 'checks' | 'tokens'>> {
    const { scope } = this.options;
    const [transfers, roots] = [new Check('transfers'), new Check('roots')];
    const [native, balances] = [new Check('native'), new Check('balances')];
    const blocks = fileChecks.find(({ name }) => name === 'blocks');
    if (blocks !== undefined && scope.headers > 0)
      await this.run(blocks, () => checkHeaders(this.db, blocks, scope, this.access()));
    await this.run(transfers, () => {
      this.noteGaps(transfers);
      return checkBlocks(this.db, { transfers, roots }, scope, this.access());
    });
    await this.run(native, () => this.compareNative(native));
    let tokens: TokenVerdict[] = [];
    await this.run(balances, async () => {
      tokens = await this.compareBalances(balances);
    });
    const checks = [...fileChecks, transfers, ...(isAll(scope.blocks) ? [roots] : []), native, balances];
    return { checks, tokens };
  }

  private async run(check: Check, work: () => void | Promise<void>): Promise<void> {
    this.options.onProgress(check.name);
    await runCheck(check, this.options.signal, work);
  }

  private access() {
    const { path, signal, onProgress } = this.options;
    return { path, client: this.node.client, rules: this.rules, signal, onProgress };
  }

  /** Records the gaps, whether or not a sample hits them. */
  private noteGaps(check: Check): void {
    const gaps = new BlockGapTable(this.db);
    const head = readLastBlock(this.db);
    const logGaps = gaps.total('log');
    if (logGaps !== null) check.addNote(`${logGapsText(logGaps)}; ${logGapsAdvice(logGaps, head)}`);
    const untraced = gaps.total('trace');
    if (untraced === null) return;
    const { reason } = internalTransfers({ capabilities: this.node.capabilities, untraced, head });
    if (reason !== null) check.addNote(reason);
  }

  private async compareNative(check: Check): Promise<void> {
    const { capabilities, client } = this.node;
    const { scope, signal } = this.options;
    if (capabilities.traces === null)
      return check.addNote(
        `not compared: internal transfers are unknown (${capabilities.tracesReason ?? 'no traces'})`,
      );
    if (!capabilities.blockReceipts)
      return check.addNote('not compared: the node does not offer eth_getBlockReceipts');
    await checkNative(check, {
      db: this.db,
      client,
      compareBlock: blockComparer(this.db, client, this.rules),
      startBlock: this.startBlock,
      mintsAreTransfers: this.rules.version >= 2,
      wallets: scope.nativeWallets,
      signal,
    });
  }

  private compareBalances(check: Check): Promise<TokenVerdict[]> {
    const { client } = this.node;
    const { scope, signal, onProgress } = this.options;
    const { db, startBlock, rules } = this;
    const { wrappedNative } = rules;
    return checkBalances(check, {
      context: { db, client, startBlock, wrappedNative, random: scope.random, signal },
      compareBlock: blockComparer(db, client, rules),
      count: scope.tokenContracts,
      onProgress: (done) => onProgress(`balances ${Math.floor(done * 100)} %`),
    });
  }
}
