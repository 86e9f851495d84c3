import type { Hex } from '../../../../src/lib/hex.ts';
import { EVENT, encode, SELECTOR, topic } from '../abi.ts';
import { nativeAmount } from '../amounts.ts';
import type { CallFrame, Transaction } from '../transaction.ts';
import type { World } from '../world.ts';

/** A call that emits logs other than transfers. */
export function callContract(world: World): Transaction {
  const { prng, actors } = world;
  const contract = prng.pickZipf(actors.others);
  const from = actors.wallet();
  const value = prng.chance(0.2) ? nativeAmount(prng) : 0n;
  const call = world.begin(from, contract, value, encode(SELECTOR.approve, contract)).pay();
  for (let logs = prng.below(3); logs > 0; logs--) {
    call.emit(contract, [EVENT.approval, topic(from), topic(contract)], encode('0x', BigInt(prng.uint32())));
  }
  return call;
}

/** A creation, sometimes paid, sometimes creating another contract. */
export function createContract(world: World): Transaction {
  const { prng, actors } = world;
  const from = actors.wallet();
  const value = prng.chance(0.3) ? nativeAmount(prng) : 0n;
  const creation = world.begin(from, null, value, `0x60806040${prng.digits()}${prng.digits()}`);
  const contract = prng.address();
  creation.created = contract;
  creation.root.to = contract;
  creation.pay();
  if (prng.chance(0.3)) createInner(world, creation, contract);
  return creation;
}

function createInner({ prng }: World, creation: Transaction, parent: Hex): void {
  const child = prng.address();
  const value = prng.chance(0.5) ? nativeAmount(prng) : 0n;
  const type = prng.chance(0.5) ? 'CREATE2' : 'CREATE';
  creation.frame({ type, from: parent, to: child, value, input: '0x6080' });
  if (value > 0n) creation.move(parent, child, value);
}

/** Status 0: neither the value nor an inner call moved anything. */
export function failTransaction(world: World): Transaction {
  const { prng, actors } = world;
  const target = prng.chance(0.5) ? prng.pickZipf(actors.routers) : prng.pickZipf(actors.erc20).address;
  const value = prng.chance(0.4) ? nativeAmount(prng) : 0n;
  const from = actors.wallet();
  const to = prng.chance(0.05) ? null : target;
  const failed = world.begin(from, to, value, encode(SELECTOR.swap, 1n));
  failed.succeeded = false;
  failed.root.error = prng.chance(0.6) ? 'execution reverted' : 'out of gas';
  if (prng.chance(0.6) && to !== null) {
    failed.call(to, actors.wallet(), nativeAmount(prng));
  }
  return failed;
}

/** A contract pays several wallets. Between the payments are frames that carry value but move nothing. */
export function disperse(world: World): Transaction {
  const { prng, actors } = world;
  const contract = prng.pickZipf(actors.dispersers);
  const payments = pickPayments(world);
  const total = payments.reduce((sum, { wei }) => sum + wei, 0n);
  const input = encode(SELECTOR.disperse, BigInt(payments.length));
  const transaction = world.begin(actors.wallet(), contract, total, input).pay();
  for (const { to, wei } of payments) payOne(world, transaction, contract, to, wei);
  if (prng.chance(0.4)) addRevertedBranch(world, transaction, contract);
  if (prng.chance(0.1)) addCallCode(world, transaction, contract);
  if (prng.chance(0.1)) addSelfDestruct(world, transaction, contract);
  if (prng.chance(0.1)) transaction.call(contract, actors.wallet(), 0n);
  return transaction;
}

function pickPayments({ prng, actors }: World): { to: Hex; wei: bigint }[] {
  return Array.from({ length: 1 + prng.below(6) }, () => {
    const wei = nativeAmount(prng) / 100n + 1n;
    return { to: prng.chance(0.5) ? actors.freshWallet() : actors.wallet(), wei };
  });
}

/** A payment. The receiver sometimes delegates, which repeats the value without moving it again. */
function payOne(world: World, transaction: Transaction, from: Hex, to: Hex, wei: bigint): void {
  const { prng, actors } = world;
  const frame = transaction.call(from, to, wei);
  transaction.move(from, to, wei);
  if (!prng.chance(0.15)) return;
  const view: CallFrame = {
    type: 'STATICCALL',
    from: to,
    to: actors.others[0]!,
    value: 0n,
    input: encode(SELECTOR.balanceOf, to),
  };
  const implementation = prng.address();
  frame.calls = [
    { type: 'DELEGATECALL', from: to, to: implementation, value: wei, input: '0x12345678', calls: [view] },
  ];
}

/** A reverted frame with value and, below it, frames without an error of their own: none of them moved anything. */
function addRevertedBranch({ prng, actors }: World, transaction: Transaction, contract: Hex): void {
  const target = prng.pickZipf(actors.others);
  const reverted = transaction.call(contract, target, nativeAmount(prng), '0xdeadbeef');
  reverted.error = 'execution reverted';
  reverted.calls = [
    { type: 'CALL', from: target, to: actors.wallet(), value: nativeAmount(prng), input: '0x' },
    { type: 'CREATE', from: target, to: prng.address(), value: nativeAmount(prng), input: '0x60' },
  ];
}

/** CALLCODE runs foreign code in place: its value stays where it is. */
function addCallCode({ prng, actors }: World, transaction: Transaction, contract: Hex): void {
  const value = nativeAmount(prng);
  transaction.frame({ type: 'CALLCODE', from: contract, to: actors.others[1]!, value, input: '0x' });
}

/** A contract is paid, then destroys itself: the payout is an internal transfer. */
function addSelfDestruct({ prng, actors }: World, transaction: Transaction, contract: Hex): void {
  const victim = prng.address();
  const wei = nativeAmount(prng);
  transaction.call(contract, victim, wei);
  transaction.move(contract, victim, wei);
  const heir = actors.wallet();
  const kill = transaction.call(contract, victim, 0n, SELECTOR.kill);
  kill.calls = [{ type: 'SELFDESTRUCT', from: victim, to: heir, value: wei, input: '0x' }];
  transaction.move(victim, heir, wei);
}
