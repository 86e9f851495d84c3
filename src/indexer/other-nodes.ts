/** The traces of a block from the other configured nodes, for one that the node in use does not trace. */
import { UpstreamError } from '../lib/errors.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { probeCapabilities } from '../node/capabilities.ts';
import type { RpcClient } from '../node/client.ts';
import { type LoadRules, loadBlocks } from './backfill/load-blocks.ts';
import { type CallRecorder, newNodeClient } from './node-client.ts';
import type { NodeClientOptions } from './protocol.ts';

interface OtherNode {
  client: RpcClient;
  /** Null until the node was probed successfully. */
  rules: LoadRules | null;
}

export class OtherNodes {
  private readonly nodes: OtherNode[];
  private readonly rules: LoadRules;
  private readonly chainId: number;

  /** `urls`: their HTTP addresses. `rules` and `chainId` are those of the node in use. */
  constructor(
    urls: readonly string[],
    from: NodeClientOptions,
    calls: CallRecorder,
    { rules, chainId }: { rules: LoadRules; chainId: number },
  ) {
    const limits = { maxSockets: 1 };
    this.nodes = urls.map((http) => ({
      client: newNodeClient({ ...from, http, tracesHttp: '' }, calls, limits),
      rules: null,
    }));
    this.rules = rules;
    this.chainId = chainId;
  }

  /** The complete block from the first node that has it, null if none has. The caller compares its hash. */
  async load(number: number, signal: AbortSignal): Promise<BlockBatch | null> {
    for (const node of this.nodes) {
      try {
        node.rules ??= await this.probe(node.client, signal);
        if (node.rules === null) continue;
        const batch = await loadBlocks(node.client, node.rules, number, number, signal);
        if (batch.gaps.length === 0) return batch;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error; // another node may answer
      }
    }
    return null;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }

  /** Null for a node of another chain or without traces. */
  private async probe(client: RpcClient, signal: AbortSignal): Promise<LoadRules | null> {
    const { chainId, traces, blockReceipts } = await probeCapabilities(
      client,
      { traces: true, head: 'latest', finality: 'auto' },
      signal,
    );
    return chainId === this.chainId && traces !== null ? { ...this.rules, traces, blockReceipts } : null;
  }
}
