/** Scenarios of native value that moves, or only seems to move, below the root of a transaction. */
import { encodeFunctionData, pad, toHex } from 'viem';
import { WEI_PER_COIN } from '../lib/units.ts';
import type { Hex } from '../types.ts';
import { abis } from './contracts.ts';
import {
  type PlannedTransaction,
  payment,
  type Scenario,
  type ScenarioContext,
  type TransferCounts,
} from './planned-transaction.ts';

const abi = abis.NativeSender;

/** Fresh wallets funded through the contract, and a payee that receives many small internal payments. */
export const fanOuts: Scenario = (context) => {
  const count = context.random.between(3, 8);
  const funded = Array.from({ length: count }, (_, index) => context.fresh(`airdrop ${index}`).address);
  const paid = Array.from({ length: 10 }, () => context.fresh('payee').address);
  return [[fanOut(context, funded), fanOut(context, paid)]];
};

/** Payments through contracts that are created, destroyed, or fail on the way. */
export const contractPayments: Scenario = (context) => {
  const { random, fresh } = context;
  const value = random.amount(1, 500, WEI_PER_COIN) * 2n;
  const salt = pad(toHex(random.between(0, 2 ** 32 - 1)), { size: 32 });
  const to = (name: string) => fresh(name).address;
  const call = (data: Hex, internal: number) => send(context, data, value, internal);
  return [
    [
      call(encodeFunctionData({ abi, functionName: 'relay', args: [to('relayed')] }), 2),
      call(encodeFunctionData({ abi, functionName: 'payAndSwallow', args: [to('undone'), to('paid')] }), 1),
      call(encodeFunctionData({ abi, functionName: 'createBoth', args: [salt] }), 2),
      call(encodeFunctionData({ abi, functionName: 'createRefused' }), 0),
      call(encodeFunctionData({ abi, functionName: 'destructTo', args: [to('heir')] }), 2),
      call(encodeFunctionData({ abi, functionName: 'destructToSelf' }), 1),
      call(encodeFunctionData({ abi, functionName: 'lookAlikes', args: [to('looked at')] }), 0),
    ],
  ];
};

/** Transactions with value that revert as a whole: a plain payment refused, and one that fails after paying others. */
export const revertedPayments: Scenario = ({ contracts, roles, random, fresh }) => {
  const value = random.amount(1, 500, WEI_PER_COIN);
  const failing = encodeFunctionData({
    abi,
    functionName: 'payThenFail',
    args: [fresh('never paid').address, value],
  });
  const refused = payment(roles.operator, contracts.nft, value);
  return [
    [
      { from: roles.operator, to: contracts.sender, data: failing, value, reverts: true, yields: {} },
      { ...refused, gas: 100_000n, reverts: true, yields: {} },
    ],
  ];
};

function fanOut(context: ScenarioContext, recipients: readonly Hex[]): PlannedTransaction {
  const amounts = recipients.map(() => context.random.amount(1, 2_000, WEI_PER_COIN));
  const data = encodeFunctionData({ abi, functionName: 'fanOut', args: [recipients, amounts] });
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  return send(context, data, total, recipients.length);
}

/** A call of the NativeSender with value, itself a direct transfer, that makes `internal` internal ones. */
function send(
  { contracts, roles }: ScenarioContext,
  data: Hex,
  value: bigint,
  internal: number,
): PlannedTransaction {
  const yields: TransferCounts = { native_direct: 1, native_internal: internal };
  return { from: roles.operator, to: contracts.sender, data, value, gas: 900_000n, yields };
}
