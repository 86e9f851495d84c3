/**
 * viem and ethers run typical application code directly on anvil and through the gateway. They must not notice a
 * difference.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  Contract,
  ContractFactory,
  Wallet as EthersWallet,
  FetchRequest,
  isCallException,
  JsonRpcProvider,
  NonceManager,
} from 'ethers';
import {
  type BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  getContractAddress,
  http,
  parseAbi,
  parseEther,
  parseGwei,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import contracts from '../../src/dev/contracts.json' with { type: 'json' };
import { itemTexts, memberTexts } from '../../src/gateway/json-scan.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { serve } from '../server/serving.ts';
import { receiptOf } from '../support/chain/receipt.ts';

/** The first of anvil's well-known accounts. */
const SECRET: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const OTHER: Hex = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const TOKEN = parseAbi([
  'constructor(string name_, string symbol_, uint8 decimals_)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function symbol() view returns (string)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);
const BYTECODE = contracts.DemoToken.bytecode as Hex;

/** A fresh chain whose blocks do not depend on the clock. */
async function chain(t: TestContext): Promise<Anvil> {
  const anvil = await startAnvil({ chainId: foundry.id });
  t.after(() => anvil.stop());
  await anvil.call('anvil_setBlockTimestampInterval', [1]);
  return anvil;
}

/** An identical chain behind the gateway. Every read is repeated directly, and the answers must be equal. */
async function gateway(t: TestContext): Promise<{ url: string; compared: () => number }> {
  const node = await chain(t);
  const { server, key } = await serve(t, { upstream: node.url });
  return { url: `${server.url}/rpc?api_key=${key}`, ...mirror(t, server.url, node) };
}

/**
 * Wraps fetch during the test. The chain does not advance between the two reads: requests run one at a time, and a sent
 * transaction is mined before its answer.
 */
function mirror(t: TestContext, gatewayUrl: string, node: Anvil): { compared: () => number } {
  const { fetch } = globalThis;
  let compared = 0;
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const body = input instanceof Request ? await input.clone().text() : String(init?.body);
    const response = await fetch(input, init);
    const text = await response.clone().text();
    if (body.includes('eth_send')) await mined(node, text);
    if (!/"eth_(send|newFilter|newBlockFilter|getFilter|uninstall)/.test(body)) {
      const headers = { 'content-type': 'application/json' };
      const direct = await fetch(node.url, { method: 'POST', headers, body });
      assert.deepEqual(outcomes(text), outcomes(await direct.text()), body);
      compared++;
    }
    return response;
  };
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(gatewayUrl)) return fetch(input, init);
    const answered = last.then(() => ask(input, init));
    last = answered.catch(() => undefined);
    return answered;
  };
  t.after(() => {
    globalThis.fetch = fetch;
  });
  return { compared: () => compared };
}

/** Resolves when the transactions whose hashes occur in the text are mined. */
async function mined(node: Anvil, text: string): Promise<void> {
  for (const [hash] of text.matchAll(/0x[0-9a-f]{64}(?![0-9a-f])/g)) await receiptOf(node, hash);
}

/** `result` and `error` of each answer as text; errors from anvil itself, not from the gateway. */
function outcomes(text: string): unknown[] {
  const answers = text.startsWith('[') ? itemTexts(text) : [text];
  return answers.map((answer) => {
    const members = memberTexts(answer);
    return [members.get('id'), members.get('result'), members.get('error')];
  });
}

/** Deploys, calls, estimates, reads logs and fees, hits reverts, sends raw transactions, reads in a batch. */
async function viemFlow(url: string, batch: boolean): Promise<unknown[]> {
  const transport = http(url, { batch, retryCount: 0 });
  const account = privateKeyToAccount(SECRET);
  const wallet = createWalletClient({ account, chain: foundry, transport });
  const client = createPublicClient({ chain: foundry, transport, pollingInterval: 20, cacheTime: 0 });
  const seen: unknown[] = [];

  const deployment = await wallet.deployContract({
    abi: TOKEN,
    bytecode: BYTECODE,
    args: ['Demo', 'DEMO', 18],
  });
  const { contractAddress, gasUsed, status } = await client.waitForTransactionReceipt({ hash: deployment });
  const address = getContractAddress({ from: account.address, nonce: 0n });
  seen.push(contractAddress, gasUsed, status, (await client.getCode({ address }))?.length);

  const mint = await wallet.writeContract({
    address,
    abi: TOKEN,
    functionName: 'mint',
    args: [account.address, 1000n],
  });
  const minted = await client.waitForTransactionReceipt({ hash: mint });
  seen.push(
    minted.gasUsed,
    minted.logs.map(({ data, topics, logIndex }) => ({ data, topics, logIndex })),
  );
  const transfer = { address, abi: TOKEN, functionName: 'transfer', account } as const;
  seen.push(await client.estimateContractGas({ ...transfer, args: [OTHER, 10n] }));
  await client.waitForTransactionReceipt({
    hash: await wallet.writeContract({ ...transfer, args: [OTHER, 10n] }),
  });

  const request = await wallet.prepareTransactionRequest({
    to: OTHER,
    value: parseEther('1.5'),
    gas: 21_000n,
    maxFeePerGas: parseGwei('30'),
    maxPriorityFeePerGas: parseGwei('1'),
  });
  const raw = await wallet.signTransaction(request);
  const sent = await client.waitForTransactionReceipt({
    hash: await client.sendRawTransaction({ serializedTransaction: raw }),
  });
  seen.push(sent.status, sent.gasUsed, sent.type);
  seen.push(
    await client
      .sendRawTransaction({ serializedTransaction: raw })
      .catch((error: BaseError) => error.details),
  );

  seen.push(
    await client.simulateContract({ ...transfer, args: [OTHER, 5000n] }).catch((error: BaseError) => {
      const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
      return revert instanceof ContractFunctionRevertedError
        ? [revert.data?.errorName, revert.data?.args]
        : error;
    }),
  );

  const read = (holder: Hex) =>
    client.readContract({ address, abi: TOKEN, functionName: 'balanceOf', args: [holder] });
  seen.push(
    await Promise.all([
      read(account.address),
      read(OTHER),
      client.readContract({ address, abi: TOKEN, functionName: 'symbol' }),
      client.getBalance({ address: OTHER }),
      client.getBalance({ address: OTHER, blockNumber: 1n }),
      client.getTransactionCount({ address: account.address }),
      client.getChainId(),
      client.getBlockNumber(),
    ]),
  );
  const logs = await client.getContractEvents({
    address,
    abi: TOKEN,
    eventName: 'Transfer',
    fromBlock: 'earliest',
  });
  seen.push(logs.map(({ args, blockNumber, logIndex }) => ({ args, blockNumber, logIndex })));
  const fees = await client.getFeeHistory({ blockCount: 3, rewardPercentiles: [25, 75] });
  seen.push(fees.gasUsedRatio, fees.reward, fees.oldestBlock);
  const block = await client.getBlock({ blockNumber: 2n, includeTransactions: true });
  seen.push(block.number, block.transactions.length, (await client.getBlock()).number);
  seen.push(
    await client.getTransaction({ hash: mint }).then(({ nonce, value, gas }) => ({ nonce, value, gas })),
  );
  seen.push(
    await client.getTransaction({ hash: `0x${'77'.repeat(32)}` }).catch((error: BaseError) => error.name),
  );
  return seen;
}

for (const batch of [false, true]) {
  test(`viem ${batch ? 'in batches' : 'one by one'}: deploy, call, logs, reverts, transactions, fees`, async (t) => {
    const direct = await viemFlow((await chain(t)).url, batch);
    const { url, compared } = await gateway(t);
    assert.deepEqual(await viemFlow(url, batch), direct);
    assert.ok(direct.length > 15);
    assert.ok(compared() > 15, `${compared()} answers were compared byte for byte`);
  });
}

/** The same with ethers, which batches by itself. */
async function ethersFlow(url: string): Promise<unknown[]> {
  const request = new FetchRequest(url);
  // ethers has its own HTTP client; only fetch can be observed.
  request.getUrlFunc = async (sent) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const response = await fetch(sent.url, { ...init, body: Buffer.from(sent.body ?? []).toString() });
    const body = new Uint8Array(await response.arrayBuffer());
    return { statusCode: response.status, statusMessage: response.statusText, headers: {}, body };
  };
  const provider = new JsonRpcProvider(request, foundry.id, { staticNetwork: true, cacheTimeout: -1 });
  provider.pollingInterval = 20;
  const signer = new NonceManager(new EthersWallet(SECRET, provider));
  const seen: unknown[] = [];
  try {
    const factory = new ContractFactory(contracts.DemoToken.abi, BYTECODE, signer);
    const deployed = await factory.deploy('Demo', 'DEMO', 18);
    await deployed.waitForDeployment();
    const address = await deployed.getAddress();
    const token = new Contract(address, contracts.DemoToken.abi, signer);
    seen.push(address, (await provider.getCode(address)).length);
    const from = await signer.getAddress();
    const minted = await (await token.getFunction('mint')(from, 1000n)).wait();
    seen.push(minted.gasUsed, minted.logs.length);
    seen.push(await token.getFunction('transfer').estimateGas(OTHER, 10n));
    await (await token.getFunction('transfer')(OTHER, 10n)).wait();
    seen.push(
      await token
        .getFunction('transfer')
        .staticCall(OTHER, 5000n)
        .catch((error: Error) =>
          isCallException(error) ? [error.revert?.name, error.revert?.args.map(String)] : error,
        ),
    );
    seen.push(
      ...(await Promise.all([
        token.getFunction('balanceOf')(OTHER),
        provider.getBalance(OTHER),
        provider.getBlockNumber(),
        provider.getTransactionCount(from),
        provider.getBlock(2).then((block) => [block?.number, block?.transactions.length]),
        provider.send('eth_feeHistory', ['0x2', 'latest', [50]]),
      ])),
    );
    const logs = await token.queryFilter('Transfer', 0);
    seen.push(logs.map(({ blockNumber, data, topics }) => ({ blockNumber, data, topics })));
  } finally {
    provider.destroy();
  }
  // Its lists are proxies, which never compare as deeply equal.
  return seen.map((one) =>
    JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
}

test('ethers: deploy, call, estimate, logs, reverts, fees', async (t) => {
  const direct = await ethersFlow((await chain(t)).url);
  const { url, compared } = await gateway(t);
  assert.deepEqual(await ethersFlow(url), direct);
  assert.ok(compared() > 10, `${compared()} answers were compared byte for byte`);
});
