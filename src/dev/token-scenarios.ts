/** Scenarios of fungible tokens: ERC-20, new tokens with their first buyers, the wrapped native coin. */
import { encodeFunctionData, getContractAddress, type LocalAccount } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { WEI_PER_COIN } from '../lib/units.ts';
import { abis, tokenCode } from './contracts.ts';
import { DEPLOY_GAS, type PlannedTransaction, payment, type Scenario } from './planned-transaction.ts';

const abi = abis.DemoToken;
/** One unit of the token with 6 decimals. */
const DOLLAR = 10n ** 6n;

/** Mints, transfers, a burn, a zero transfer, a self-transfer, and a transfer that exceeds the balance. */
export const erc20: Scenario = ({ contracts, roles, random, fresh }) => {
  const { token, stable } = contracts;
  const { deployer, trader, whale, exchange } = roles;
  const bought = random.amount(100_000, 900_000, WEI_PER_COIN);
  const part = bought / 10n;
  return [
    [
      mint(deployer, token, trader.address, bought),
      mint(deployer, token, whale.address, bought * 50n),
      mint(deployer, stable, trader.address, random.amount(50_000, 900_000, DOLLAR)),
    ],
    [
      transfer(trader, token, fresh('token buyer').address, part),
      transfer(trader, token, exchange.address, part),
      transfer(trader, stable, exchange.address, random.amount(10, 50_000, DOLLAR)),
      transfer(trader, token, whale.address, 0n),
      transfer(trader, token, trader.address, part),
      { ...transfer(trader, token, whale.address, bought * 10n ** 9n), reverts: true, yields: {} },
      tokenCall(trader, token, encodeFunctionData({ abi, functionName: 'burn', args: [part] })),
    ],
  ];
};

/** A fresh wallet launches a token. The trader and a few fresh wallets are its first buyers. */
export const launch: Scenario = ({ roles, random, fresh }) => {
  const launcher = fresh('launcher');
  const token = getContractAddress({ from: launcher.address, nonce: 0n });
  const name = random.between(1, 9_999);
  const data = tokenCode(`Launch ${name}`, `L${name}`, 18);
  const buyers = [fresh('first buyer'), fresh('second buyer'), roles.trader, fresh('third buyer')];
  return [
    [payment(roles.exchange, launcher.address, 5n * WEI_PER_COIN)],
    [{ from: launcher, to: null, data, gas: DEPLOY_GAS, yields: {} }],
    buyers.map((buyer) => mint(launcher, token, buyer.address, random.amount(1_000, 90_000, WEI_PER_COIN))),
    [transfer(roles.trader, token, launcher.address, random.amount(1, 1_000, WEI_PER_COIN))],
  ];
};

/** Coins wrapped by call and by payment, transferred, and unwrapped, which pays them out by an internal transfer. */
export const wrapping: Scenario = ({ contracts, roles, random }) => {
  const { trader, whale } = roles;
  const { wrapped } = contracts;
  const value = random.amount(1_000, 9_000, WEI_PER_COIN);
  const wrap = { from: trader, to: wrapped, value, yields: { native_direct: 1, erc20: 1 } };
  const call = (data: Hex) => tokenCall(trader, wrapped, data);
  const unwrap = encodeFunctionData({ abi: abis.DemoWrapped, functionName: 'withdraw', args: [value / 2n] });
  const give = {
    abi: abis.DemoWrapped,
    functionName: 'transfer',
    args: [whale.address, value / 4n],
  } as const;
  return [
    [{ ...wrap, data: encodeFunctionData({ abi: abis.DemoWrapped, functionName: 'deposit' }) }, wrap],
    [call(encodeFunctionData(give)), { ...call(unwrap), yields: { erc20: 1, native_internal: 1 } }],
  ];
};

function mint(from: LocalAccount, token: Hex, to: Hex, amount: bigint): PlannedTransaction {
  return tokenCall(from, token, encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] }));
}

function transfer(from: LocalAccount, token: Hex, to: Hex, amount: bigint): PlannedTransaction {
  return tokenCall(from, token, encodeFunctionData({ abi, functionName: 'transfer', args: [to, amount] }));
}

/** A call that makes one ERC-20 transfer. */
function tokenCall(from: LocalAccount, to: Hex, data: Hex): PlannedTransaction {
  return { from, to, data, yields: { erc20: 1 } };
}
