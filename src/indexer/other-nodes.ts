/** The other configured nodes, for blocks that the node in use does not trace, or gives incompletely. */
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
  load(number: number, signal: AbortSignal): Promise<BlockBatch | null> {
    return this.first(async (client, rules) => {
      const batch = await loadBlocks(client, rules, number, number, signal);
      return batch.gaps.length === 0 ? batch : null;
    }, signal);
  }

  /** The first result of `load` that is not null, for the nodes of the chain in their order. */
  async first<T>(
    load: (client: RpcClient, rules: LoadRules) => Promise<T | null>,
    signal: AbortSignal,
  ): Promise<T | null> {
    for (const node of this.nodes) {
      try {
        node.rules ??= await this.probe(node.client, signal);
        const found = node.rules === null ? null : await load(node.client, node.rules);
        if (found !== null) return found;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error; // another node may answer
      }
    }
    return null;
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ client }) => client.close()));
  }

  /** Null for a node of another chain, or without traces where the index has them. */
  private async probe(client: RpcClient, signal: AbortSignal): Promise<LoadRules | null> {
    const { chainId, traces, blockReceipts } = await probeCapabilities(
      client,
      { traces: this.rules.traces !== null, head: 'latest', finality: 'auto' },
      signal,
    );
    const lacksTraces = traces === null && this.rules.traces !== null;
    return chainId === this.chainId && !lacksTraces ? { ...this.rules, traces, blockReceipts } : null;
  }
}
