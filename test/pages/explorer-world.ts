/**
 * A generated chain with its daemon, shared by the explorer tests: every kind of transfer, and wallets worth exploring.
 */
import assert from 'node:assert/strict';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import type { DemoContracts } from '../../src/dev/contracts.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import {
  demoLabels,
  exampleAddresses,
  type SampleAddresses,
  sampleAddresses,
} from '../../src/dev/sample-addresses.ts';
import { DEMO_SEED, generateTraffic } from '../../src/dev/traffic.ts';
import { openLabelsFile } from '../../src/labels/labels-file.ts';
import { toQuantity } from '../../src/lib/hex.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { withClient } from '../support/index/verify.ts';

export interface World extends TestDaemon {
  anvil: Anvil;
  contracts: DemoContracts;
  samples: SampleAddresses;
  /**
   * Sends coins of a rich account in one block, `times` times, and resolves with the last hash once all are indexed.
   */
  pay(to: string, coins: number, times?: number): Promise<string>;
}

const ROUNDS = 2;

export async function startWorld(cleanup: Cleanup): Promise<World> {
  const anvil = await startAnvil({ manual: true });
  cleanup.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true });
  await generateTraffic(anvil.url, contracts, { rounds: ROUNDS, mine: true });
  const samples = sampleAddresses(contracts, DEMO_SEED);
  const daemon = await startTestDaemon(cleanup, {
    flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl, '--start-block': 'earliest' },
    env: {
      ATLAS_ADMIN_TOKEN: 'operator-of-the-test',
      ATLAS_TRADES__QUOTE_TOKENS: JSON.stringify([contracts.stable]),
    },
    examples: exampleAddresses(samples),
  });
  const labels = openLabelsFile(`${daemon.dataDir}/labels.db`);
  labels.import(demoLabels(samples, contracts));
  labels.close();
  const caughtUp = async () => daemon.reaches(Number(await anvil.call('eth_blockNumber')));
  await caughtUp();
  const [from] = (await anvil.call('eth_accounts')) as string[];
  return {
    ...daemon,
    anvil,
    contracts,
    samples,
    async pay(to, coins, times = 1) {
      const value = `0x${(BigInt(coins) * 10n ** 18n).toString(16)}`;
      const next = Number(await anvil.call('eth_getTransactionCount', [from, 'latest']));
      const payments = Array.from({ length: times }, (_, n) => ({
        method: 'eth_sendTransaction',
        params: [{ from, to, value, nonce: toQuantity(next + n) }],
      }));
      const replies = await withClient(anvil.url, (client) => client.batch(payments));
      await anvil.call('evm_mine');
      await caughtUp();
      const last = replies.at(-1) ?? assert.fail();
      if ('error' in last) throw last.error;
      return String(last.result);
    },
  };
}
