/** Schemas of /healthz, /readyz and /status, which need no key. */
import * as z from 'zod';
import { addressField, txHashField } from '../../schemas/fields.ts';
import { example } from '../fields.ts';

const count = () => z.int().min(0);

const unixMillis = () => z.int().min(0).nullable().describe('Unix milliseconds');

const healthSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

const readySchema = z.object({ ready: z.literal(true) }).meta({ id: 'Ready' });

const notReadySchema = z.object({ ready: z.literal(false), reason: z.string() }).meta({ id: 'NotReady' });

const capabilitiesSchema = z
  .object({
    client: z.string(),
    chainId: count(),
    traces: z
      .enum(['debug_traceBlockByHash', 'debug_traceBlockByNumber', 'trace_block'])
      .nullable()
      .describe('The method that provides internal transfers; if null, tracesReason says why'),
    tracesReason: z.string().nullable(),
    blockReceipts: z.boolean(),
    headTag: z.enum(['finalized', 'latest']),
  })
  .meta({ id: 'NodeCapabilities' });

const hooksStatusSchema = z
  .object({ active: count(), paused: count(), failing: count(), lagBlocks: count() })
  .meta({ id: 'HooksStatus' });

const sinkStatusSchema = z
  .object({
    state: z.enum(['connecting', 'filling', 'following', 'waiting']),
    reason: z.string().nullable().describe('Why nothing is written'),
    schema: z.string(),
    finality: z.enum(['latest', 'finalized']),
    block: count().nullable(),
    tradesBlock: count()
      .nullable()
      .describe('Last block whose trades are written; below block while the table trades is filled in'),
    lagBlocks: count().nullable(),
    lagSeconds: z.number().nullable(),
    transfersPerSecond: z.number(),
    transfers: count(),
    lastCommitAt: unixMillis(),
    rollbacks: count(),
    errors: count(),
  })
  .meta({ id: 'SinkStatus' });

const clusterStatusSchema = z
  .object({
    state: z.enum(['connecting', 'joined']),
    reason: z
      .string()
      .nullable()
      .describe('Why keys and usage are out of sync with PostgreSQL, or conflict with other daemons'),
    daemons: count().nullable().describe('Number of running daemons that share the keys'),
    unsentRequests: count().describe('Requests counted here but not yet sent to PostgreSQL'),
    lastSyncAt: unixMillis(),
    errors: count(),
  })
  .meta({ id: 'ClusterStatus' });

const nodeStatusSchema = z
  .object({
    node: z.int().min(1).describe('Position in node_http'),
    address: z.string().nullable().describe('Null for callers without the operator token'),
    current: z.boolean().describe('Whether the daemon uses this node now'),
    state: z.enum([
      'unchecked',
      'healthy',
      'recovering',
      'behind',
      'failing',
      'another_chain',
      'another_fork',
    ]),
    reason: z.string().nullable().describe('Why the node is not healthy'),
    head: count().nullable(),
    latencyMs: z.number().nullable().describe('Latency of the last check'),
    failures: count().describe('Failed checks since the daemon started'),
  })
  .meta({ id: 'NodeStatus' });

const rulesStatusSchema = z
  .object({
    version: count().describe('Version of the rules that the index was made with'),
    newest: count().describe('Version of the rules that a new index would get'),
    changes: z
      .array(z.string())
      .describe('What a new index with this configuration would count otherwise; empty when nothing'),
    isConfigured: z.boolean().describe('Whether the configuration, not only the program, causes changes'),
    rebuildBlocks: count()
      .nullable()
      .describe('Blocks that a rebuild would read again; null if it would change nothing'),
  })
  .meta({ id: 'RulesStatus' });

const gapsSchema = z
  .object({
    first: count(),
    last: count(),
    blocks: count(),
    reasons: z
      .array(z.object({ reason: z.string(), blocks: count() }))
      .describe(
        'The most frequent reasons, at most 5, without numbers; those of traces in the words of the node',
      ),
  })
  .meta({ id: 'Gaps' });

export const statusSchema = z
  .object({
    phase: z.enum(['starting', 'backfilling', 'following', 'paused']),
    reason: z.string().nullable().describe('Why the indexer makes no progress; null if it does'),
    readFailure: z.string().nullable().describe('Which part of the index cannot be read'),
    nodeChain: z
      .enum(['unchecked', 'same', 'behind', 'another_chain', 'reorg_too_deep', 'reorg_below_finalized'])
      .describe("How the node's chain relates to the index"),
    finality: z
      .object({
        rule: z
          .enum(['tag', 'instant', 'depth'])
          .describe('By what the node calls finalized, at once, or by the blocks above (index.max_reorg)'),
        reason: z.string().describe('Why this rule holds now'),
        block: count().nullable().describe('The highest final block of the index'),
      })
      .nullable()
      .describe('Which blocks are final; null while unknown'),
    unprovenHeaders: z
      .string()
      .nullable()
      .describe('Why headers of this chain are not verified; null if the newest one hashes to its own hash'),
    unchecked: z.string().nullable().describe('What is not checked on this chain, and why; null if nothing'),
    nodes: z.array(nodeStatusSchema).describe('The nodes; empty for a single one'),
    startBlock: count().nullable(),
    rules: rulesStatusSchema
      .nullable()
      .describe('What counts as a transfer in this index; null before the node answers'),
    head: z.object({ number: count(), hash: txHashField() }).nullable().describe('The last indexed block'),
    headTimestamp: count().nullable().describe('Unix seconds'),
    nodeHead: count().nullable(),
    blocksPerSecond: z.number(),
    transfersPerSecond: z.number(),
    blocksPerSecondLastMinute: z.number().describe('The rate behind etaSeconds'),
    transfers: count(),
    capabilities: capabilitiesSchema.nullable(),
    untraced: gapsSchema.nullable().describe('Blocks that lack internal transfers; null if none does'),
    logGaps: gapsSchema
      .nullable()
      .describe(
        'Blocks stored although incomplete, because every node gave the same answer for ten minutes; null if none is',
      ),
    derived: z
      .array(
        z.object({
          name: z.enum(['token_history', 'token_mints', 'trade_sums', 'new_trade_sums']),
          lastTransfer: count(),
        }),
      )
      .describe(
        'What an index of an earlier release, or one with other lists of trades, still gets while it is ' +
          'served, and the transfer up to which it is complete (of transfers)',
      ),
    tradeChanges: z
      .array(z.string())
      .describe(
        'Which contracts count otherwise in trades once new_trade_sums is complete, because the ' +
          'configuration or the release changed the lists; empty when none does',
      ),
    skippedLogs: z
      .record(z.string(), count())
      .describe('Logs that were not indexed, by reason, since the index was made: an estimate'),
    skippedIn: z
      .record(z.string(), txHashField())
      .describe('Hash of a transaction with such a log, by reason'),
    skippedContracts: z
      .array(z.object({ contract: addressField(), reason: z.string(), logs: count(), txHash: txHashField() }))
      .describe('The contracts with the most such logs, at most 20'),
    startedAt: z.number().describe('Unix milliseconds. Start of the counts below'),
    reorgs: count(),
    deepestReorg: count(),
    lastCommitAt: unixMillis(),
    lagBlocks: count().nullable(),
    lagSeconds: count().nullable().describe('Age of the newest block'),
    staleReason: z
      .string()
      .nullable()
      .describe(
        'Why the age of the newest block is wrong: the chain has stopped, or a clock is wrong; null if it is not',
      ),
    etaSeconds: count().nullable(),
    internalTransfers: z.boolean().nullable(),
    internalTransfersReason: z.string().nullable(),
    sink: sinkStatusSchema.nullable().describe('State of the PostgreSQL sink; null without a sink'),
    cluster: clusterStatusSchema
      .nullable()
      .describe('State of keys shared with other daemons; null without access.postgres'),
    hooks: hooksStatusSchema.nullable().describe('State of webhooks; null without any'),
  })
  .meta({ id: 'Status' });

const exampleStatus: z.output<typeof statusSchema> = {
  phase: 'following',
  reason: null,
  readFailure: null,
  nodeChain: 'same',
  finality: { rule: 'tag', reason: 'the node calls blocks finalized', block: 4711 },
  unprovenHeaders: null,
  unchecked: null,
  nodes: [],
  startBlock: 100,
  rules: { version: 1, newest: 1, changes: [], isConfigured: false, rebuildBlocks: null },
  head: { number: 4711, hash: example.blockHash },
  headTimestamp: 1_795_248_000,
  nodeHead: 4711,
  blocksPerSecond: 2.5,
  transfersPerSecond: 210,
  blocksPerSecondLastMinute: 2.5,
  transfers: 90210,
  capabilities: {
    client: 'Monad/0.12.1',
    chainId: 143,
    traces: 'debug_traceBlockByHash',
    tracesReason: null,
    blockReceipts: true,
    headTag: 'finalized',
  },
  untraced: null,
  logGaps: null,
  derived: [],
  tradeChanges: [],
  skippedLogs: { transfer_topics: 12 },
  skippedIn: { transfer_topics: example.txHash },
  skippedContracts: [
    { contract: example.token, reason: 'transfer_topics', logs: 12, txHash: example.txHash },
  ],
  startedAt: 1_795_240_000_000,
  reorgs: 0,
  deepestReorg: 0,
  lastCommitAt: 1_795_248_000_400,
  lagBlocks: 0,
  lagSeconds: 1,
  staleReason: null,
  etaSeconds: 0,
  internalTransfers: true,
  internalTransfersReason: null,
  sink: null,
  cluster: null,
  hooks: null,
};

export interface HealthRoute {
  summary: string;
  good: z.ZodObject;
  example: object;
  /** The schema of a 503 answer. */
  bad?: z.ZodObject;
}

export const HEALTH_ROUTES = {
  '/healthz': { summary: 'Whether the service is alive', good: healthSchema, example: { status: 'ok' } },
  '/readyz': {
    summary: "Whether the index is close to the node's head and the head advances",
    good: readySchema,
    example: { ready: true },
    bad: notReadySchema,
  },
  '/status': {
    summary: 'The state of the index, the node, webhooks and PostgreSQL',
    good: statusSchema,
    example: exampleStatus,
  },
} satisfies Record<string, HealthRoute>;
