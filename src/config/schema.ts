/**
 * Every setting: its type, bounds, default and unit. config.example.toml documents them for operators; a test checks
 * that both agree. Has the shape of atlas.toml.
 */
import * as z from 'zod';
import { DEFAULT_MAX_REORG, FINALITY_RULES } from '../model/finality.ts';
import { queriesSchema } from './query-settings.ts';
import { isHttpUrl, isPostgresUrl, isWebSocketUrl, splitUrls } from './urls.ts';
import {
  bool,
  choice,
  firstBlock,
  headerName,
  host,
  integer,
  isAddress,
  isAllowableMethod,
  isHeaderText,
  isNetwork,
  isOrigin,
  isSchemaName,
  listOf,
  nonEmptyString,
  parseListen,
  startBlock,
  text,
  textThat,
} from './values.ts';

const MAX_MB = 1_048_576;
const MAX_MS = 3_600_000;

/** HTTP requests to the chain node. */
const node = z.strictObject({
  /** Timeout of a request, and of tracing one transaction, milliseconds. */
  timeout_ms: integer(100, MAX_MS).default(10_000),
  /** Connections kept to the node. */
  max_sockets: integer(1, 1_024).default(16),
  /** Most calls in one JSON-RPC batch. */
  batch: integer(1, 1_000).default(60),
  /** With several nodes: how long a preferred node must be healthy before it is used again. */
  quiet_seconds: integer(1, 86_400).default(30),
  /** Further headers of every request to a node, by name. Secret. */
  headers: z
    .record(
      headerName(),
      textThat('printable ASCII text without a space at either end', (v) => v !== '' && isHeaderText(v)),
    )
    .default({}),
});

function addresses() {
  return listOf('addresses (0x and 40 hex digits)', isAddress).default([]);
}

const chain = z.strictObject({
  /** Symbol of the native coin in answers. */
  symbol: nonEmptyString('the symbol of the native coin, such as "MON"').default('MON'),
  /** How blocks become final; `auto` chooses by chain and node (model/finality.ts). */
  finality: choice(['auto', ...FINALITY_RULES]).default('auto'),
  /** Addresses of wrapped native tokens in addition to those known for the chain id. Applies to new indexes. */
  wrapped_native: addresses(),
  /** Addresses of contracts that log moves of the native coin as Transfers, likewise. */
  native_contracts: addresses(),
  /** Addresses of ERC-20 tokens whose Transfer has no indexed argument, likewise. */
  unindexed_erc20: addresses(),
});

/** Contracts that trades are told by, in addition to those known for the chain id. */
const trades = z.strictObject({
  /** Tokens that count as the native coin, besides `chain.wrapped_native`. */
  native_equivalents: addresses(),
  /** Tokens that others are priced in. */
  quote_tokens: addresses(),
  /** Receivers of transaction fees, which belong to no trade. */
  fee_sinks: addresses(),
});

const index = z.strictObject({
  /** First block to index when the index is created. */
  start_block: startBlock().default('earliest'),
  /** The head to follow: `finalized` never rolls back, `latest` may; `auto` chooses by node. */
  head: choice(['auto', 'finalized', 'latest']).default('auto'),
  /** Index internal native transfers from traces, if the node offers them. */
  traces: bool().default(true),
  /** Verify the transactions and receipts of each block against the roots in its header. */
  check_roots: bool().default(false),
  /** Interval of head polls when no WebSocket announces heads, milliseconds. */
  poll_ms: integer(10, 60_000).default(250),
  /** Most blocks that a reorg may remove. A deeper one pauses indexing. */
  max_reorg: integer(0, 100_000).default(DEFAULT_MAX_REORG),
  /** Longest wait for the traces of a block that the node does not give, seconds; at the head at most 120. */
  gap_after: integer(0, 31_536_000).default(600),
  /** Largest lag behind the node's head at which `/readyz` reports ready, blocks. */
  ready_lag: integer(0, 1_000_000).default(10),
  /** Age of the newest block at which the chain counts as stale, seconds; 0 turns the check off. */
  stale_seconds: integer(0, 31_536_000).default(600),
  /** Most transfers per commit during backfill. */
  batch_transfers: integer(1, 10_000_000).default(4_000_000),
  /** Memory for the blocks and changes of backfill commits, MiB. */
  backfill_memory_mb: integer(16, MAX_MB).default(512),
  /** Backfill workers: threads that fetch and decode. */
  loaders: integer(1, 64).default(1),
  /**
   * Page cache of the indexer, MiB. The operating system caches too: eight times as much does not speed up a backfill.
   */
  cache_mb: integer(1, MAX_MB).default(8),
});

const server = z.strictObject({
  /** Address to listen on. */
  host: host().default('127.0.0.1'),
  /** Port of REST, RPC, both WebSockets and the panel; 0 for any free one. */
  port: integer(0, 65_535).default(8_650),
  /** Files of the certificate chain and its key, PEM; both or neither. */
  tls_cert: text().default(''),
  tls_key: text().default(''),
  /** Origins of web pages that may call over HTTP: `*` or `scheme://host[:port]`. */
  cors_origins: listOf('origins such as "https://example.org", or "*"', isOrigin).default(['*']),
  /** Proxies trusted to report a client's address: addresses, or networks such as "10.0.0.0/8". */
  trusted_proxies: listOf('IP addresses or networks such as "10.0.0.0/8"', isNetwork).default([]),
  /** Most concurrent connections, HTTP and WebSocket together. */
  max_connections: integer(1, 1_000_000).default(10_000),
  /** Whether visitors of the pages need no key; they share `public_key`. */
  public_explorer: bool().default(false),
  /** Number of the key that the pages use for visitors without one. */
  public_key: integer(0, Number.MAX_SAFE_INTEGER).default(0),
  /** How long a stopping daemon keeps serving after `/readyz` turned false, seconds. */
  drain_seconds: integer(0, 3_600).default(0),
});

const rpc = z.strictObject({
  /** Methods, or `namespace_*`, permitted in addition to the default ones. */
  allow: listOf(
    'methods such as "debug_traceCall" or "trace_*", never of a namespace that controls the node',
    isAllowableMethod,
  ).default([]),
  /** Widest `eth_getLogs` range for clients, blocks. */
  logs_max_range: integer(1, 10_000_000).default(10_000),
  /** Widest `eth_getLogs` range per call to the node, blocks. */
  logs_node_range: integer(1, 10_000_000).default(100),
  /** Timeout of a call to the node, ms. Waiting for a connection counts only while its key gets no response. */
  timeout_ms: integer(100, MAX_MS).default(30_000),
  /** Calls slower than this are logged, milliseconds. */
  slow_ms: integer(1, MAX_MS).default(1_000),
  /**
   * Connections kept to the node for `/rpc`. A key gets at most three quarters of them (node/http/fair-queue.ts), so
   * that others find one free.
   */
  max_sockets: integer(1, 4_096).default(96),
  /** Size of the cache of immutable responses, MiB. */
  cache_mb: integer(0, MAX_MB).default(64),
  /** Merge identical calls in flight into one call to the node. */
  merge: bool().default(true),
  /** Cache immutable responses. */
  cache: bool().default(true),
  /** Head cache: answers calls about the head for 10 ms from memory; chain id, network and version for 10 s. */
  local: bool().default(true),
  /** Calls per key that may wait for the node or for a connection to it at once. */
  concurrency_per_key: integer(1, 100_000).default(1_000),
  /**
   * How long a request on /rpc or a message on a WebSocket may wait for its key's rate before it is refused,
   * milliseconds: below the 10 seconds after which common client libraries give up. 0 refuses at once.
   */
  rate_wait_ms: integer(0, 60_000).default(8_000),
});

const stream = z.strictObject({
  /** Offer `newPendingTransactions` if the node does. */
  pending: bool().default(false),
  max_connections_per_key: integer(1, 1_000_000).default(5),
  /** Subscriptions per connection. */
  max_subscriptions: integer(1, 100_000).default(10),
  /** How long a new token's first events wait for its symbol and decimals, milliseconds; 0 disables waiting. */
  metadata_wait_ms: integer(0, 60_000).default(1_000),
  /** Largest message accepted from a client, bytes. As on /rpc: a transaction with six blobs takes 1.6 MB. */
  max_message_bytes: integer(1_024, 67_108_864).default(2_000_000),
  /**
   * Backlog at which a slow client is closed, bytes: at least twice that of a replay
   * (streams/transfers/replay-queue.ts).
   */
  max_backlog_bytes: integer(524_288, 1_073_741_824).default(8_388_608),
  /** Seconds between pings. */
  ping_seconds: integer(1, 3_600).default(30),
  /** Silence after which a connection is closed, seconds. */
  idle_seconds: integer(8, 960).default(120),
});

const hooks = z.strictObject({
  /** Deliver webhooks to addresses that are not on the public internet. */
  allow_private: bool().default(false),
});

const explorer = z.strictObject({
  /** Folder of ABI files, `*.json`, that name methods, events and errors; empty for those of standards alone. */
  abi_dir: text().default(''),
});

/** Limits of a tier's keys; 0 lifts a limit. */
const tier = z.strictObject({
  /** Requests per calendar month, UTC. */
  requests_per_month: integer(0, Number.MAX_SAFE_INTEGER),
  requests_per_second: integer(0, 1_000_000),
  /** Deepest `funding_chain`, hops. */
  chain_depth: integer(1, 10),
  /** Webhooks that a key may own. */
  max_hooks: integer(0, 1_000).default(5),
});

const TIER_NAME = z.string().regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, {
  error: 'is not a tier name: a lower-case letter, then such letters, digits and single underscores',
});

const tiers = z.record(TIER_NAME, tier).default({
  free: { requests_per_month: 100_000, requests_per_second: 5, chain_depth: 5, max_hooks: 1 },
  growth: { requests_per_month: 5_000_000, requests_per_second: 50, chain_depth: 10, max_hooks: 5 },
  pro: { requests_per_month: 50_000_000, requests_per_second: 100, chain_depth: 10, max_hooks: 20 },
  unlimited: { requests_per_month: 0, requests_per_second: 0, chain_depth: 10, max_hooks: 0 },
});

/** History in PostgreSQL. */
const sinkPostgres = z.strictObject({
  /** `postgres://...` of a database; empty turns the sink off. */
  url: textThat(
    'a URL such as "postgres://user@127.0.0.1:5432/chain", or empty',
    (value) => value === '' || isPostgresUrl(value),
  ).default(''),
  /** Schema of the tables; created if missing. */
  schema: textThat(
    'a schema name of lower-case letters, digits and underscores, such as "atlas"',
    isSchemaName,
  ).default('atlas'),
  /** First block to write; `earliest` is the index's first block. */
  from_block: firstBlock().default('earliest'),
  /** `latest` follows the index and removes the rows of a reorg; `finalized` writes only final blocks. */
  finality: choice(['latest', 'finalized']).default('latest'),
  /** Fill the table `wallets`. */
  wallets: bool().default(false),
  /** Blocks per partition of `transfers` in a new schema. */
  partition_blocks: integer(1_000, 1_000_000_000).default(250_000),
});

/** Keys. */
const access = z.strictObject({
  /** `postgres://...` of the database whose keys several daemons share; empty if keys are not shared. */
  postgres: textThat(
    'a URL such as "postgres://user@127.0.0.1:5432/atlas", or empty',
    (value) => value === '' || isPostgresUrl(value),
  ).default(''),
});

const sink = z.strictObject({ postgres: sinkPostgres.prefault({}) });

const metrics = z.strictObject({
  /** `host:port` of `/metrics`; empty turns it off. */
  listen: textThat(
    'host:port such as "127.0.0.1:9650" or "[::1]:9650", or empty',
    (value) => value === '' || parseListen(value) !== undefined,
  ).default(''),
});

const log = z.strictObject({
  /** Lowest level logged. */
  level: choice(['debug', 'info', 'warn', 'error']).default('info'),
  /** `auto` is pretty on a terminal and in the systemd journal, and JSON elsewhere. */
  format: choice(['auto', 'pretty', 'json']).default('auto'),
});

export const configSchema = z.strictObject({
  /** JSON-RPC over HTTP of each node, the preferred one first, separated by commas. */
  node_http: textThat('a URL such as "http://127.0.0.1:8545", or several separated by commas', (value) =>
    splitUrls(value).every(isHttpUrl),
  ).default('http://127.0.0.1:8545'),
  /** The WebSocket of each node, in the same order; if empty, the daemon polls for heads. */
  node_ws: textThat(
    'a URL such as "ws://127.0.0.1:8546", or empty, or one for each node separated by commas',
    (value) => value === '' || splitUrls(value).every(isWebSocketUrl),
  ).default(''),
  /** JSON-RPC over HTTP of the node that serves traces; if empty, the node in use. */
  node_traces: textThat(
    'a URL such as "http://127.0.0.1:8547", or empty',
    (value) => value === '' || isHttpUrl(value),
  ).default(''),
  /** Folder of index.db and keys.db. A relative path starts at the working directory, `~` at the home directory. */
  data_dir: nonEmptyString('the path of a folder').default('./atlas-data'),
  /** Token of the operator's panel; empty disables the panel. */
  admin_token: textThat(
    'at least 16 printable ASCII characters without a space at either end, such as the output of ' +
      '"openssl rand -hex 24", or empty',
    (value) => value === '' || (value.length >= 16 && isHeaderText(value)),
  ).default(''),
  node: node.prefault({}),
  chain: chain.prefault({}),
  trades: trades.prefault({}),
  index: index.prefault({}),
  server: server.prefault({}),
  rpc: rpc.prefault({}),
  stream: stream.prefault({}),
  hooks: hooks.prefault({}),
  explorer: explorer.prefault({}),
  tiers,
  queries: queriesSchema,
  access: access.prefault({}),
  sink: sink.prefault({}),
  metrics: metrics.prefault({}),
  log: log.prefault({}),
});

export type Config = z.output<typeof configSchema>;
