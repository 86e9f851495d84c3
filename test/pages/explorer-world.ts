/**
 * A generated chain with its daemon, shared by the explorer tests: every kind of transfer, and wallets worth exploring.
 */
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
import type { Cleanup } from '../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';

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
    flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl },
    env: { ATLAS_ADMIN_TOKEN: 'operator-of-the-test' },
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
      let hash = '';
      for (let n = 0; n < times; n++)
        hash = String(await anvil.call('eth_sendTransaction', [{ from, to, value }]));
      await anvil.call('evm_mine');
      await caughtUp();
      return hash;
    },
  };
}
