/**
 * A development chain with tokens whose balances do and do not follow from their transfers
 * (test/fixtures/OddTokens.sol).
 */
import { encodeFunctionData, parseAbi } from 'viem';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import type { Hex } from '../../../src/lib/hex.ts';
import type { Cleanup } from '../nodes/replay.ts';
import { type Receipt, receiptOf } from './receipt.ts';
import { compileFixture } from './solidity.ts';

const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function rebase()',
  'function emitTransfer(address from, address to, uint256 value)',
]);

export type OddToken = 'PlainToken' | 'FeeToken' | 'RebasingToken' | 'SilentToken' | 'Spoof';

export class OddChain {
  readonly anvil: Anvil;
  readonly accounts: readonly Hex[];
  private readonly creationCode: Readonly<Record<string, Hex>>;

  constructor(anvil: Anvil, accounts: readonly Hex[], creationCode: Readonly<Record<string, Hex>>) {
    this.anvil = anvil;
    this.accounts = accounts;
    this.creationCode = creationCode;
  }

  /** Each transaction gets its own block. */
  async deploy(contract: OddToken): Promise<Hex> {
    const { contractAddress } = await this.send({ data: this.creationCode[contract] });
    if (contractAddress === null) throw new Error(`the creation of ${contract} made no contract`);
    return contractAddress;
  }

  async mint(token: Hex, to: number, value: number): Promise<void> {
    const args = [this.accounts[to]!, BigInt(value)] as const;
    await this.send({ to: token, data: encodeFunctionData({ abi: ABI, functionName: 'mint', args }) });
  }

  async transfer(token: Hex, from: number, to: number, value: number): Promise<void> {
    const args = [this.accounts[to]!, BigInt(value)] as const;
    const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args });
    await this.send({ from: this.accounts[from]!, to: token, data });
  }

  async rebase(token: Hex): Promise<void> {
    await this.send({ to: token, data: encodeFunctionData({ abi: ABI, functionName: 'rebase' }) });
  }

  async emitTransfer(token: Hex, from: number, to: number, value: number): Promise<void> {
    const args = [this.accounts[from]!, this.accounts[to]!, BigInt(value)] as const;
    await this.send({
      to: token,
      data: encodeFunctionData({ abi: ABI, functionName: 'emitTransfer', args }),
    });
  }

  async mine(blocks: number): Promise<void> {
    await this.anvil.call('anvil_mine', [`0x${blocks.toString(16)}`]);
  }

  async head(): Promise<number> {
    return Number(await this.anvil.call('eth_blockNumber'));
  }

  /** Resolves with the receipt once the transaction is mined. A failed transaction is a bug of the test. */
  private async send(transaction: { from?: Hex; to?: Hex; data: Hex | undefined }): Promise<Receipt> {
    const hash = await this.anvil.call('eth_sendTransaction', [
      { from: this.accounts[0], gas: '0x2dc6c0', ...transaction },
    ]);
    const receipt = await receiptOf(this.anvil, hash);
    if (receipt.status !== '0x1') throw new Error(`the transaction ${hash} failed`);
    return receipt;
  }
}

export async function startOddChain(
  owner: Cleanup,
  options: { stateBlocks?: number } = {},
): Promise<OddChain> {
  const anvil = await startAnvil(options);
  owner.after(() => anvil.stop());
  const accounts = (await anvil.call('eth_accounts')) as Hex[];
  return new OddChain(anvil, accounts, await compileFixture('OddTokens.sol'));
}
