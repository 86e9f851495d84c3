/** Verifies an index file against a node in tests. */

import { finalityOf } from '../../../src/model/finality.ts';
import { probeCapabilities } from '../../../src/node/capabilities.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { type RepairResult, repairRange } from '../../../src/verify/repair.ts';
import type { VerifyReport } from '../../../src/verify/report.ts';
import { FILE_SCOPE, fullScope, sampleScope } from '../../../src/verify/scope.ts';
import { verifyIndex } from '../../../src/verify/verify.ts';
import { randomSource } from '../chain/random-chain.ts';

interface VerifyTestOptions {
  path: string;
  http: string;
  sample?: number;
  all?: boolean;
  onProgress?: (text: string) => void;
  signal?: AbortSignal;
  traces?: boolean;
  wrappedNative?: readonly string[];
  seed?: number;
}

export async function withClient<T>(url: string, work: (client: RpcClient) => Promise<T>): Promise<T> {
  const client = new RpcClient({ url, timeoutMs: 60_000, maxSockets: 8, maxBatch: 50 });
  return work(client).finally(() => client.close());
}

interface RepairTestOptions {
  batchTransfers?: number;
}

/** Repairs like the command, until `onProgress` aborts the controller. */
export function repairFile(
  path: string,
  http: string,
  from: number | null,
  to: number,
  onProgress: (text: string, stop: AbortController) => void = () => undefined,
  { batchTransfers = 5_000 }: RepairTestOptions = {},
): Promise<RepairResult> {
  const stop = new AbortController();
  return withClient(http, async (client) => {
    const capabilities = await probeCapabilities(client, { traces: true, head: 'latest', finality: 'auto' });
    return repairRange({
      path,
      client,
      capabilities,
      finality: finalityOf('auto', capabilities),
      configured: {},
      configuredTrades: {},
      range: from === null ? null : { first: from, last: to },
      cacheMb: 8,
      batchTransfers,
      maxReorg: 128,
      signal: stop.signal,
      onProgress: (text) => onProgress(text, stop),
    });
  });
}

/** Verifies with a sample large enough for a whole small test chain. */
export function verifyFile(options: VerifyTestOptions): Promise<VerifyReport> {
  const scopeOf = options.all ? fullScope : sampleScope;
  return withClient(options.http, async (client) =>
    verifyIndex({
      path: options.path,
      scope: scopeOf(options.sample ?? 2_000, randomSource(options.seed ?? 1)),
      node: {
        client,
        capabilities: await probeCapabilities(client, {
          traces: options.traces ?? true,
          head: 'latest',
          finality: 'auto',
        }),
        configured: { wrappedNative: options.wrappedNative ?? [] },
      },
      signal: options.signal ?? new AbortController().signal,
      onProgress: options.onProgress ?? (() => undefined),
    }),
  );
}

/** Verifies without a node. */
export function verifyAlone(path: string): Promise<VerifyReport> {
  const { signal } = new AbortController();
  return verifyIndex({ path, scope: FILE_SCOPE, node: null, signal, onProgress: () => undefined });
}

/** Every difference as `check: text`. */
export function differencesOf(report: VerifyReport): string[] {
  return report.checks.flatMap(({ name, differences }) => differences.map(({ text }) => `${name}: ${text}`));
}
