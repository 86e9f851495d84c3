/** Scenes of native value that moves, or only seems to move, below the root of a transaction. */
import { encodeFunctionData, pad, toHex } from 'viem';
import { COIN } from '../lib/units.ts';
import type { Hex } from '../types.ts';
import { abis } from './contracts.ts';
import { payment, type Scene, type Setting, type Step, type Yield } from './step.ts';

const abi = abis.NativeSender;

/** Fresh wallets funded through the contract, and a payee that receives many small internal payments. */
export const fanOuts: Scene = (setting) => {
  const count = setting.random.between(3, 8);
  const funded = Array.from({ length: count }, (_, index) => setting.fresh(`airdrop ${index}`).address);
  const paid = Array.from({ length: 10 }, () => setting.fresh('payee').address);
  return [[fanOut(setting, funded), fanOut(setting, paid)]];
};

/** Payments through contracts that are created, destroyed, or fail on the way. */
export const detours: Scene = (setting) => {
  const { random, fresh } = setting;
  const value = random.amount(1, 500, COIN) * 2n;
  const salt = pad(toHex(random.between(0, 2 ** 32 - 1)), { size: 32 });
  const to = (name: string) => fresh(name).address;
  const call = (data: Hex, internal: number) => send(setting, data, value, internal);
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
export const undone: Scene = ({ contracts, roles, random, fresh }) => {
  const value = random.amount(1, 500, COIN);
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

function fanOut(setting: Setting, recipients: readonly Hex[]): Step {
  const amounts = recipients.map(() => setting.random.amount(1, 2_000, COIN));
  const data = encodeFunctionData({ abi, functionName: 'fanOut', args: [recipients, amounts] });
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  return send(setting, data, total, recipients.length);
}

/** A call of the NativeSender with value, itself a direct transfer, that makes `internal` internal ones. */
function send({ contracts, roles }: Setting, data: Hex, value: bigint, internal: number): Step {
  const yields: Yield = { native_direct: 1, native_internal: internal };
  return { from: roles.operator, to: contracts.sender, data, value, gas: 900_000n, yields };
}
