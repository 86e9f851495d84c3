/** Deployment of the demo contracts. */
import type { RpcTransactionReceipt } from 'viem';
import type { Hex } from '../lib/hex.ts';
import { badgesCode, bytecode, type DemoContracts, tokenCode } from './contracts.ts';
import { DEPLOY_GAS, type PlannedTransaction } from './planned-transaction.ts';
import { createSubmitter, type SubmitOptions } from './submit.ts';
import { roles } from './wallets.ts';

/** ERC-721 transfers of a deployment, in one ERC-2309 log. A deployment makes no other transfers. */
export const DEPLOYED_BADGES = 25;

/** Deploys one of each demo contract on an anvil chain. */
export async function deployDemo(url: string, options: SubmitOptions = {}): Promise<DemoContracts> {
  const { deployer, collector } = roles();
  const submitter = await createSubmitter(url, options);
  const receipts = await submitter.run(
    [
      tokenCode('Demo Token', 'DEMO', 18),
      tokenCode('Demo Dollar', 'DUSD', 6),
      bytecode('DemoNft'),
      bytecode('DemoEditions'),
      badgesCode(collector.address, DEPLOYED_BADGES),
      bytecode('DemoWrapped'),
      bytecode('NativeSender'),
      bytecode('MalformedLogs'),
    ].map((data): PlannedTransaction => ({ from: deployer, to: null, data, gas: DEPLOY_GAS, yields: {} })),
  );
  const created = (index: number) => createdContract(receipts[index]);
  return {
    token: created(0),
    stable: created(1),
    nft: created(2),
    editions: created(3),
    badges: created(4),
    wrapped: created(5),
    sender: created(6),
    malformed: created(7),
  };
}

function createdContract(receipt: RpcTransactionReceipt | undefined): Hex {
  if (!receipt?.contractAddress) throw new Error('a demo deployment created no contract');
  return receipt.contractAddress;
}
