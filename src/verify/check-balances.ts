/** Examines sampled tokens. Distinguishes a token that moves balances silently from an index that lacks transfers. */
import { UpstreamError } from '../lib/errors.ts';
import { randomInt } from '../lib/random.ts';
import { readLastBlock } from '../store/chain.ts';
import { highest, inReadTransaction } from '../store/open-database.ts';
import { BALANCE_ACCURACY_NAMES, BalanceAccuracy } from '../store/tokens/balance-accuracy.ts';
import { AnchorMismatchError } from '../tokens/anchored-batch.ts';
import { findDriftBlock } from '../tokens/balance-drift.ts';
import { type Examination, type ExamineContext, examineToken } from '../tokens/examine-token.ts';
import type { CompareBlock } from './block-comparer.ts';
import type { Check, TokenVerdict } from './report.ts';

/** Failed tokens after which the rest is skipped, because the node lacks the state for all of them. */
const MAX_FAILURES = 3;

/** Most attempts per token when the head keeps moving. */
const MAX_TRIES = 4;

interface BalanceCheckOptions {
  context: ExamineContext;
  compareBlock: CompareBlock;
  /** Most tokens to examine. */
  count: number;
  onProgress(done: number): void;
}

/** Returns the verdict for each token. Only transfers missing from the index count as a difference. */
export async function checkBalances(check: Check, options: BalanceCheckOptions): Promise<TokenVerdict[]> {
  const { context, count, onProgress } = options;
  const verdicts: TokenVerdict[] = [];
  const chosen = chooseTokens(context, count);
  let failures = 0;
  for (const [i, token] of chosen.entries()) {
    onProgress(i / chosen.length);
    try {
      const found = await examineWithRetry(context, token);
      if (found !== null) verdicts.push(await reportVerdict(check, options, found));
    } catch (error) {
      if (!(error instanceof UpstreamError) || context.signal.aborted) throw error;
      if (++failures <= MAX_FAILURES) continue;
      check.addNote(`given up after ${verdicts.length} tokens: ${error.message}`);
      break;
    }
  }
  if (verdicts.length > 0)
    check.compared = `balances and supply of ${verdicts.length} tokens against their contracts`;
  if (failures > 0 && failures <= MAX_FAILURES) check.addNote(`${failures} tokens could not be examined`);
  return verdicts;
}

async function examineWithRetry(context: ExamineContext, token: number): Promise<Examination | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await examineToken(context, token);
    } catch (error) {
      if (!(error instanceof AnchorMismatchError) || attempt === MAX_TRIES) throw error;
    }
  }
}

async function reportVerdict(
  check: Check,
  options: BalanceCheckOptions,
  found: Examination,
): Promise<TokenVerdict> {
  const { address, quality, reason, driftRange } = found;
  const verdict: TokenVerdict = {
    token: address,
    quality: quality === null ? null : BALANCE_ACCURACY_NAMES[quality],
    reason,
  };
  if (quality !== BalanceAccuracy.unreliable || driftRange === null) return verdict;
  const { context, compareBlock } = options;
  const block = await findDriftBlock(context, { token: address, ...driftRange });
  if (block === null || block < context.startBlock) return verdict;
  const difference = await compareBlock(block, context.signal);
  if (difference === null) return { ...verdict, reason: `${reason}, first in block ${block}` };
  check.addDifference(`${address}: ${reason}: ${difference}`, block);
  return { ...verdict, quality: null, reason: `the index lacks transfers of block ${block}` };
}

/** Half are random tokens; half come from random recent transfers, where nodes still have the state. */
function chooseTokens({ db, random }: ExamineContext, count: number): number[] {
  return inReadTransaction(db, () => {
    const tip = readLastBlock(db);
    const last = highest(db, 'tokens');
    const tokenOf = db
      .prepare<[number], number | null>(
        'SELECT token FROM transfers WHERE id >= ? AND token IS NOT NULL ORDER BY id LIMIT 1',
      )
      .pluck();
    const chosen = new Set<number>();
    for (let i = 0; i < count * 4 && chosen.size < Math.min(count, last); i++) {
      const from = randomInt(random, 1, Math.max(1, tip?.lastTransfer ?? 1));
      const token = i % 2 === 0 ? randomInt(random, 1, last) : tokenOf.get(from);
      if (token) chosen.add(token);
    }
    return [...chosen];
  });
}
