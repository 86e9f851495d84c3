/** Verifying an index file against a node in tests. */
import { RpcClient } from '../../src/upstream/client.ts';
import { probe } from '../../src/upstream/probe.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verifyIndex } from '../../src/verify/verify.ts';
import { randomSource } from './random-chain.ts';

export interface VerifyTestOptions {
  path: string;
  http: string;
  sample?: number;
  traces?: boolean;
  wrappedNative?: readonly string[];
  seed?: number;
}

/** Verifies with a sample that small test chains fit into whole. */
export async function verifyFile(options: VerifyTestOptions): Promise<VerifyReport> {
  const client = new RpcClient({ url: options.http, timeoutMs: 5_000, maxSockets: 8, maxBatch: 50 });
  try {
    return await verifyIndex({
      path: options.path,
      client,
      capabilities: await probe(client, { traces: options.traces ?? true, head: 'latest' }),
      wrappedNative: options.wrappedNative ?? [],
      sample: options.sample ?? 2_000,
      random: randomSource(options.seed ?? 1),
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  } finally {
    await client.close();
  }
}

/** Every difference as `check: text`. */
export function differencesOf(report: VerifyReport): string[] {
  return report.checks.flatMap(({ name, differences }) => differences.map(({ text }) => `${name}: ${text}`));
}
