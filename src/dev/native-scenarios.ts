/** Scenarios of native transfers: payments, funding, creations with value. */
import { encodeFunctionData, pad, toHex } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { WEI_PER_COIN } from '../lib/units.ts';
import { abis, vaultCode } from './contracts.ts';
import {
  DEPLOY_GAS,
  type PlannedTransaction,
  payment,
  type Scenario,
  type ScenarioContext,
  type TransferCounts,
} from './planned-transaction.ts';

/** Scenarios of native value that moves, or only seems to move, below the root of a transaction. */
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

/** Transactions with value that revert as a whole: a refused plain payment, and one that fails after paying others. */
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

/** A call of the NativeSender with value: a direct transfer that makes `internal` internal ones. */
function send(
  { contracts, roles }: ScenarioContext,
  data: Hex,
  value: bigint,
  internal: number,
): PlannedTransaction {
  const yields: TransferCounts = { native_direct: 1, native_internal: internal };
  return { from: roles.operator, to: contracts.sender, data, value, gas: 900_000n, yields };
}

/** Wallets from the exchange to the end of a funding chain, including the end. */
export const CHAIN_HOPS = 5;
/** Fewest wallets that one funder funds at the same time. */
export const COHORT_SIZE = 4;

/** Everyday payments, large ones back and forth, a self-transfer and a zero transfer. */
export const payments: Scenario = ({ roles, random }) => [
  [
    payment(roles.exchange, roles.trader.address, random.amount(500, 5_000, WEI_PER_COIN)),
    payment(roles.trader, roles.collector.address, random.amount(10, 900, WEI_PER_COIN)),
    payment(roles.collector, roles.exchange.address, random.amount(10, 900, WEI_PER_COIN)),
    payment(roles.whale, roles.exchange.address, random.amount(10_001_000, 25_000_000, WEI_PER_COIN)),
    payment(roles.exchange, roles.whale.address, random.amount(10_001_000, 25_000_000, WEI_PER_COIN)),
    payment(roles.trader, roles.trader.address, random.amount(1, 100, WEI_PER_COIN)),
    payment(roles.trader, roles.whale.address, 0n),
  ],
];

/** One funder pays several fresh wallets, which then all pay the same one: wallets that act together. */
export const cohort: Scenario = ({ roles, random, fresh }) => {
  const size = random.between(COHORT_SIZE, COHORT_SIZE + 4);
  const wallets = Array.from({ length: size }, (_, index) => fresh(`cohort ${index}`));
  return [
    wallets.map((wallet) =>
      payment(roles.exchange, wallet.address, random.amount(2_000, 9_000, WEI_PER_COIN)),
    ),
    wallets.map((wallet) => payment(wallet, roles.collector.address, random.amount(100, 900, WEI_PER_COIN))),
  ];
};

/** From the exchange through several fresh wallets, each the only funder of the next. */
export const fundingChain: Scenario = ({ roles, random, fresh }) => {
  const start = random.amount(40_000, 60_000, WEI_PER_COIN);
  return Array.from({ length: CHAIN_HOPS }, (_, index) => {
    const funder = index === 0 ? roles.exchange : fresh(`chain ${index}`);
    const funded = fresh(`chain ${index + 1}`);
    return [payment(funder, funded.address, start - BigInt(index) * 2n * WEI_PER_COIN)];
  });
};

/** A contract created with value by a transaction, and one whose constructor refuses the value. */
export const creations: Scenario = ({ roles, random }) => {
  const creation = { from: roles.operator, to: null, gas: DEPLOY_GAS };
  const value = random.amount(100, 900, WEI_PER_COIN);
  return [
    [
      { ...creation, data: vaultCode(false), value, yields: { native_direct: 1 } },
      { ...creation, data: vaultCode(true), value, reverts: true, yields: {} },
    ],
  ];
};
