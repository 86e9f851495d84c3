/**
 * Scenarios of tokens: ERC-20 and the wrapped native coin, ERC-721, ERC-1155 and ERC-2309, and logs that only look like
 * transfers.
 */
import { encodeFunctionData, getContractAddress, type LocalAccount } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { WEI_PER_COIN } from '../lib/units.ts';
import { abis, badgesCode, tokenCode } from './contracts.ts';
import {
  DEPLOY_GAS,
  type PlannedTransaction,
  payment,
  type Scenario,
  type TransferCounts,
} from './planned-transaction.ts';

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

export function mint(from: LocalAccount, token: Hex, to: Hex, amount: bigint): PlannedTransaction {
  return tokenCall(from, token, encodeFunctionData({ abi, functionName: 'mint', args: [to, amount] }));
}

function transfer(from: LocalAccount, token: Hex, to: Hex, amount: bigint): PlannedTransaction {
  return tokenCall(from, token, encodeFunctionData({ abi, functionName: 'transfer', args: [to, amount] }));
}

/** A call that makes one ERC-20 transfer. */
function tokenCall(from: LocalAccount, to: Hex, data: Hex): PlannedTransaction {
  return { from, to, data, yields: { erc20: 1 } };
}

/** Logs written by `MalformedLogs.emitAll`. None may be stored. */
const MALFORMED_LOGS = 19;

/** Mint, transfer and burn of single ids. */
export const erc721: Scenario = ({ contracts, roles, random, fresh }) => {
  const { collector } = roles;
  const abi = abis.DemoNft;
  const kept = BigInt(random.between(0, 2 ** 32 - 1)) << 1n;
  const burnt = kept + 1n;
  const call = (data: Hex): PlannedTransaction => ({
    from: collector,
    to: contracts.nft,
    data,
    yields: { erc721: 1 },
  });
  const mint = (id: bigint) =>
    call(encodeFunctionData({ abi, functionName: 'mint', args: [collector.address, id] }));
  const args = [collector.address, fresh('nft buyer').address, kept] as const;
  return [
    [mint(kept), mint(burnt)],
    [
      call(encodeFunctionData({ abi, functionName: 'transferFrom', args })),
      call(encodeFunctionData({ abi, functionName: 'burn', args: [burnt] })),
    ],
  ];
};

/** Single and batch mints and transfers, a batch with a zero amount, and a batch burn. */
export const erc1155: Scenario = ({ contracts, roles, random, fresh }) => {
  const { collector } = roles;
  const abi = abis.DemoEditions;
  const owner = collector.address;
  const buyer = fresh('edition buyer').address;
  const units = BigInt(random.between(10, 500));
  const ids = [1n, 2n, 3n];
  const call = (data: Hex, erc1155: number): PlannedTransaction => {
    return { from: collector, to: contracts.editions, data, yields: { erc1155 } };
  };
  const mintBatch = { abi, functionName: 'mintBatch', args: [owner, ids, [units, units * 2n, 0n]] } as const;
  const one = { abi, functionName: 'safeTransferFrom', args: [owner, buyer, 1n, 1n, '0x'] } as const;
  const two = [owner, buyer, [1n, 2n], [1n, 2n], '0x'] as const;
  return [
    [
      call(encodeFunctionData({ abi, functionName: 'mint', args: [owner, 1n, units] }), 1),
      call(encodeFunctionData(mintBatch), ids.length),
    ],
    [
      call(encodeFunctionData(one), 1),
      call(encodeFunctionData({ abi, functionName: 'safeBatchTransferFrom', args: two }), 2),
      call(encodeFunctionData({ abi, functionName: 'burnBatch', args: [owner, [1n, 2n], [1n, 1n]] }), 2),
    ],
  ];
};

/** A collection minted by one ConsecutiveTransfer log. One of its ids is then sold. */
export const erc2309: Scenario = ({ roles, random, fresh }) => {
  const artist = fresh('artist');
  const count = random.between(5, 40);
  const collection = getContractAddress({ from: artist.address, nonce: 0n });
  const data = badgesCode(artist.address, count);
  const sold = encodeFunctionData({
    abi: abis.DemoBadges,
    functionName: 'transferFrom',
    args: [artist.address, roles.collector.address, BigInt(random.between(0, count - 1))],
  });
  return [
    [payment(roles.exchange, artist.address, 5n * WEI_PER_COIN)],
    [{ from: artist, to: null, data, gas: DEPLOY_GAS, yields: { erc721: count } }],
    [{ from: artist, to: collection, data: sold, yields: { erc721: 1 } }],
  ];
};

/** Logs that break the shape of a transfer event, and a Deposit of a contract that wraps nothing. */
export const malformedLogs: Scenario = ({ contracts, roles }) => {
  const abi = abis.MalformedLogs;
  const { operator, trader, whale } = roles;
  const call = (data: Hex, yields: TransferCounts): PlannedTransaction => ({
    from: operator,
    to: contracts.malformed,
    data,
    yields,
  });
  const all = { abi, functionName: 'emitAll', args: [trader.address, whale.address] } as const;
  const fake = { abi, functionName: 'fakeDeposit', args: [trader.address, WEI_PER_COIN] } as const;
  return [[call(encodeFunctionData(all), { malformed: MALFORMED_LOGS }), call(encodeFunctionData(fake), {})]];
};
