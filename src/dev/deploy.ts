/** Deployment of the demo contracts. */
import type { RpcTransactionReceipt } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import { badgesCode, bytecode, type DemoContracts, poolCode, tokenCode } from './contracts.ts';
import { DEPLOY_GAS, type PlannedTransaction } from './planned-transaction.ts';
import { createSubmitter, type SubmitOptions } from './submit.ts';
import { approve, LOW_DOLLAR_PRICE, LOW_PRICE } from './trade-scenarios.ts';
import { roles } from './wallets.ts';

/** ERC-721 transfers of a deployment, in one ERC-2309 log. A deployment makes no other transfers. */
export const DEPLOYED_BADGES = 25;

/** Deploys one of each demo contract, and two pools, on an anvil chain. */
export async function deployDemo(url: string, options: SubmitOptions = {}): Promise<DemoContracts> {
  const { deployer, collector, trader, whale } = roles();
  const submitter = await createSubmitter(url, options);
  const deploy = (codes: readonly Hex[]) =>
    submitter.run(
      codes.map(
        (data): PlannedTransaction => ({ from: deployer, to: null, data, gas: DEPLOY_GAS, yields: {} }),
      ),
    );
  const receipts = await deploy([
    tokenCode('Demo Token', 'DEMO', 18),
    tokenCode('Demo Dollar', 'DUSD', 6),
    bytecode('DemoNft'),
    bytecode('DemoEditions'),
    badgesCode(collector.address, DEPLOYED_BADGES),
    bytecode('DemoWrapped'),
    bytecode('NativeSender'),
    bytecode('MalformedLogs'),
    bytecode('DemoRouter'),
  ]);
  const created = (index: number) => createdContract(receipts[index]);
  const [token, stable, router] = [created(0), created(1), created(8)];
  const [pool, dollarPool] = (
    await deploy([
      poolCode({ token, coin: ZERO_ADDRESS, price: LOW_PRICE, supply: 0n }),
      poolCode({ token, coin: stable, price: LOW_DOLLAR_PRICE, supply: 0n }),
    ])
  ).map(createdContract);
  if (pool === undefined || dollarPool === undefined) throw new Error('a demo pool was not deployed');
  await submitter.run([
    ...[pool, dollarPool, router].map((spender) => approve(trader, token, spender)),
    approve(trader, stable, dollarPool),
    approve(whale, token, pool),
  ]);
  return {
    token,
    stable,
    nft: created(2),
    editions: created(3),
    badges: created(4),
    wrapped: created(5),
    pool,
    dollarPool,
    router,
    sender: created(6),
    malformed: created(7),
  };
}

function createdContract(receipt: RpcTransactionReceipt | undefined): Hex {
  if (!receipt?.contractAddress) throw new Error('a demo deployment created no contract');
  return receipt.contractAddress;
}
