import { TransferKind } from '../model/transfer-kind.ts';
import type { BatchBuilder } from './batch.ts';
import { addressFromTopic, type Log } from './logs.ts';
import { isZero } from './read-json.ts';
import type { TransactionTrace } from './traces.ts';

/** Sender of Monad's system transactions. Their value is minted, not debited from it. */
export const SYSTEM_SENDER = '6f49a8f621353f12378d0046e7d7e4b9b249dc9e';
/** The staking precompile. */
export const STAKING_CONTRACT = '0000000000000000000000000000000000001000';

const WITHDRAW_TOPIC = '0x63030e4238e1146c63f38f4ac81b2b23c8be28882e68b03f0887e50d0e9bb18f';
const CLAIM_REWARDS_TOPIC = '0xcb607e6b63c89c95f6ae24ece9fe0e38a7971aa5ed956254f1df47490921727b';
const DELEGATE_TOPIC = '0xe4d4df1e1827dd28252fd5c3cd7ebccd3da6e0aa31f74c828f3c8542af49d840';

/**
 * Selectors of `claimRewards(uint64)`, which pays, and `compound(uint64)`, which emits the same event but pays nothing.
 */
const CLAIM_SELECTOR = '0xa76e2ca5';
const COMPOUND_SELECTOR = '0xb34fea67';

/** Pushes the payouts of one successful transaction as internal transfers from the staking contract. */
export function decodeStakingPayouts(
  out: BatchBuilder,
  logs: readonly Log[],
  trace: TransactionTrace | null,
): void {
  const stakingLogs = logs.filter((log) => log.emitter === `0x${STAKING_CONTRACT}`);
  const claims = stakingLogs.filter((log) => log.topics[0] === CLAIM_REWARDS_TOPIC);
  const compounded = claims.length === 0 ? new Set<Log>() : compoundedClaims(claims, stakingLogs, trace);
  for (const log of stakingLogs) {
    if (log.topics[0] === WITHDRAW_TOPIC) pushPayout(out, log, 1);
    if (log.topics[0] === CLAIM_REWARDS_TOPIC && !compounded.has(log)) pushPayout(out, log, 0);
  }
}

/** Pushes a payout to the delegator (third topic) of the amount in data word `word`. */
function pushPayout(out: BatchBuilder, log: Log, word: number): void {
  const topic = log.topics[2];
  const start = 2 + 64 * word;
  if (topic === undefined || log.data.length < start + 64) return out.skip('staking_shape', log.emitter);
  const delegator = addressFromTopic(topic);
  if (delegator === null) return out.skip('dirty_address', log.emitter);
  if (isZero(`0x${log.data.slice(start, start + 64)}`)) return;
  out.push(TransferKind.nativeInternal, STAKING_CONTRACT, delegator, '', -1, log.data, start, start + 64);
}

/**
 * The ClaimRewards logs emitted by `compound`. A call tree matches each log, by validator and delegator and in order,
 * to the call that emitted it. Without a tree, a Delegate log right after it with the same validator, delegator and
 * amount reveals `compound`.
 */
function compoundedClaims(
  claims: readonly Log[],
  stakingLogs: readonly Log[],
  trace: TransactionTrace | null,
): Set<Log> {
  const calls = trace
    ?.callsOf(STAKING_CONTRACT)
    ?.filter((call) => call.input.startsWith(CLAIM_SELECTOR) || call.input.startsWith(COMPOUND_SELECTOR));
  if (calls === undefined) {
    return new Set(
      stakingLogs.filter(
        (log, i) => log.topics[0] === CLAIM_REWARDS_TOPIC && isSameStake(log, stakingLogs[i + 1]),
      ),
    );
  }
  const compounded = new Set<Log>();
  for (const claim of claims) {
    const at = calls.findIndex(
      (call) =>
        call.input.slice(10, 74) === claim.topics[1]?.slice(2) && call.caller === claim.topics[2]?.slice(26),
    );
    const call = at < 0 ? undefined : calls.splice(at, 1)[0];
    if (call?.input.startsWith(COMPOUND_SELECTOR)) compounded.add(claim);
  }
  return compounded;
}

function isSameStake(claim: Log, next: Log | undefined): boolean {
  return (
    next?.topics[0] === DELEGATE_TOPIC &&
    next.topics[1] === claim.topics[1] &&
    next.topics[2] === claim.topics[2] &&
    next.data.slice(2, 66) === claim.data.slice(2, 66)
  );
}
