/** The AsyncAPI 3.0 document of /ws and /ws/signals, from the schemas of their records and filters. */
import * as z from 'zod';
import { labelSchema, txHashField } from '../../schemas/fields.ts';
import { signalFilterSchema, walletFilterSchema } from '../../schemas/stream-filters.ts';
import {
  chainLogFilterSchema,
  headSchema,
  logFilterSchema,
  logSchema,
  progressSchema,
  signalSchema,
  walletTransferSchema,
} from '../../schemas/stream-records.ts';
import { type JsonSchema, namedSchema, type Schemas } from './json-schema.ts';

export interface AsyncApiDocument {
  asyncapi: '3.0.0';
  info: { title: string; version: string; description: string };
  defaultContentType: string;
  servers: object;
  channels: Record<string, { address: string; description: string; messages: Record<string, Reference> }>;
  operations: object;
  components: { schemas: Schemas; messages: Record<string, Message>; securitySchemes: object };
}

interface Reference {
  $ref: string;
}

interface Message {
  name: string;
  summary: string;
  payload: JsonSchema;
}

const DESCRIPTION = `Live transfers, signals, heads and logs over two WebSockets with one API key.

A subscribe returns an id; its events carry the id as params.subscription. Transfers and signals are pushed after the
commit. Deduplicate by txHash and eventIndex, with blockHash across reorgs, and for signals with event and direction.
After a reorg, reverted events are sent again with removed: true, newest first. After a reconnect, pass lastSeen. With
progress: true, a message tells up to which block all events were sent.`;

const id = z.union([z.string(), z.number(), z.null()]);
const subscriptionId = z.string().describe('Id of the subscription');

/** Messages from clients to /ws, by message name. */
const ETH_REQUESTS = {
  subscribeNewHeads: { summary: 'Every new block', params: z.tuple([z.literal('newHeads')]) },
  subscribeLogs: { summary: 'Logs that match a filter', params: logParams('logs', logFilterSchema) },
  subscribeChainLogs: {
    summary: 'Logs of proposed blocks, which may still be dropped; equals logs on chains other than Monad',
    params: logParams('chainLogs', chainLogFilterSchema),
  },
  subscribePendingTransactions: {
    summary: 'Pending transactions, if the operator enabled them: hashes, or with true whole transactions',
    params: z.union([
      z.tuple([z.literal('newPendingTransactions')]),
      z.tuple([z.literal('newPendingTransactions'), z.boolean()]),
    ]),
  },
  subscribeMonadNewHeads: {
    summary: 'On Monad: each block at every change of its state, as the node sends it',
    params: z.tuple([z.literal('monadNewHeads')]),
  },
  subscribeMonadLogs: {
    summary: 'On Monad: each log at every change of its block, as the node sends it',
    params: logParams('monadLogs', logFilterSchema),
  },
  subscribeSyncing: {
    summary: 'Where the node offers it: whether it synchronises',
    params: z.tuple([z.literal('syncing')]),
  },
  subscribeWalletTransfers: {
    summary: 'Transfers of up to 1,000 wallets',
    params: topicParams('wallet_transfers', walletFilterSchema),
  },
} as const;

const PROGRESS = 'With progress: all events up to this block were sent';

/** Messages from /ws, by message name. */
const ETH_EVENTS = {
  newHead: { summary: 'A block, for newHeads or monadNewHeads', result: headSchema },
  log: { summary: 'A log, for logs, chainLogs or monadLogs', result: logSchema },
  syncing: {
    summary: 'Whether the node synchronises, or an object with its progress',
    result: z.union([z.boolean(), z.looseObject({ syncing: z.boolean() })]),
  },
  pendingTransaction: {
    summary: 'A pending transaction, or its hash',
    result: z.union([txHashField(), z.looseObject({ hash: txHashField() })]),
  },
  walletTransfer: { summary: 'A transfer of a wallet', result: walletTransferSchema },
  walletProgress: { summary: PROGRESS, result: progressSchema },
} as const;

function topicParams(topic: string, filter: z.ZodObject) {
  return z.tuple([z.literal(topic), filter]);
}

/** Without a filter, every log. */
function logParams(topic: string, filter: z.ZodObject) {
  return z.union([z.tuple([z.literal(topic)]), z.tuple([z.literal(topic), filter.nullable()])]);
}

/** The filter itself, or a list with it; without one, all signals. */
const signalParams = z
  .union([signalFilterSchema, z.array(signalFilterSchema.nullable()).max(1)])
  .nullable()
  .optional();

function request(method: string, params: z.ZodType) {
  return z.object({ jsonrpc: z.literal('2.0'), id, method: z.literal(method), params });
}

function event(method: string, result: z.ZodType) {
  return z.object({
    jsonrpc: z.literal('2.0'),
    method: z.literal(method),
    params: z.object({ subscription: subscriptionId, result }),
  });
}

const subscribedSchema = z.object({ jsonrpc: z.literal('2.0'), id, result: subscriptionId });
const unsubscribedSchema = z.object({ jsonrpc: z.literal('2.0'), id, result: z.boolean() });
const refusedSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id,
  error: z.object({
    code: z.int().describe('-32602: invalid parameters; -32005: over a limit'),
    message: z.string(),
    data: z.unknown().optional(),
  }),
});

/** `version` is the version of atlas-node. */
export function asyncApiDocument(version: string): AsyncApiDocument {
  const schemas: Schemas = {};
  const messages: Record<string, Message> = {};
  const addMessage = (
    name: string,
    summary: string,
    schema: z.ZodType,
    io: 'input' | 'output' = 'output',
  ) => {
    messages[name] = { name, summary, payload: namedSchema(schema, schemas, { io, target: 'draft-7' }) };
    return name;
  };
  namedSchema(labelSchema, schemas, { target: 'draft-7' });
  const replies = [
    addMessage('subscribed', 'The reply to a subscribe', subscribedSchema),
    addMessage('unsubscribed', 'The reply to an unsubscribe', unsubscribedSchema),
    addMessage('refused', 'The reply to a refused message', refusedSchema),
  ];
  const ids = z.tuple([subscriptionId]);
  const requests = {
    ws: [
      ...Object.entries(ETH_REQUESTS).map(([name, { summary, params }]) =>
        addMessage(name, summary, request('eth_subscribe', params), 'input'),
      ),
      addMessage('unsubscribe', 'Ends a subscription', request('eth_unsubscribe', ids), 'input'),
    ],
    signals: [
      addMessage('subscribeSignals', 'Wallet events', request('atlas_subscribe', signalParams), 'input'),
      addMessage('unsubscribeSignals', 'Ends a subscription', request('atlas_unsubscribe', ids), 'input'),
    ],
  };
  const events = {
    ws: Object.entries(ETH_EVENTS).map(([name, { summary, result }]) =>
      addMessage(name, summary, event('eth_subscription', result)),
    ),
    signals: [
      addMessage('signal', 'A wallet event', event('atlas_subscription', signalSchema)),
      addMessage('signalProgress', PROGRESS, event('atlas_subscription', progressSchema)),
    ],
  };
  const channel = (name: 'ws' | 'signals', address: string, description: string) => ({
    address,
    description,
    messages: references('#/components/messages', [...requests[name], ...replies, ...events[name]]),
  });
  const operations = (name: 'ws' | 'signals', prefix: string) => {
    const channel = { $ref: `#/channels/${name}` };
    const of = (names: string[]) => Object.values(references(`#/channels/${name}/messages`, names));
    return {
      [`${prefix}Requests`]: {
        action: 'receive',
        channel,
        summary: 'Messages from the client',
        messages: of(requests[name]),
        reply: { channel, messages: of(replies) },
      },
      [`${prefix}Events`]: {
        action: 'send',
        channel,
        summary: 'Messages to the client',
        messages: of(events[name]),
      },
    };
  };
  return {
    asyncapi: '3.0.0',
    info: { title: 'atlas-node streams', version, description: DESCRIPTION },
    defaultContentType: 'application/json',
    servers: {
      here: {
        host: '{host}',
        protocol: 'ws',
        description: 'The address of REST; wss behind TLS',
        variables: { host: { default: '127.0.0.1:8650' } },
        security: [
          { $ref: '#/components/securitySchemes/header' },
          { $ref: '#/components/securitySchemes/query' },
        ],
      },
    },
    channels: {
      ws: channel('ws', '/ws', 'eth_subscribe, and every method of /rpc'),
      signals: channel('signals', '/ws/signals', 'atlas_subscribe'),
    },
    operations: { ...operations('ws', 'ws'), ...operations('signals', 'signal') },
    components: {
      schemas,
      messages,
      securitySchemes: {
        header: { type: 'httpApiKey', in: 'header', name: 'X-API-Key' },
        query: {
          type: 'httpApiKey',
          in: 'query',
          name: 'api_key',
          description: 'For browsers, which cannot set headers on WebSockets',
        },
      },
    },
  };
}

/** References to the named members of a part of the document. */
function references(part: string, names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `${part}/${name}` }]));
}
