/** GET /api/search: the tokens, addresses, transactions and blocks that a text may mean. */
import { z } from 'zod';
import type { LabelledAddress } from '../../labels/labels.ts';
import type { Hex } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import type { ViewKind } from '../../model/transfer-kind.ts';
import { type IndexedBlockRow, prepareIndexedBlock } from '../../query/blocks.ts';
import { prepareTokenFacts, prepareTokenSearch } from '../../query/tokens.ts';
import { prepareWalletSummary } from '../../query/wallets.ts';
import { countField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, tokenType } from '../fields.ts';
import type { NodeAnswer } from '../node-reads.ts';
import { searchText } from '../params.ts';

const MAX_RESULTS = 20;
/** Most results that are labels. The rest is reserved for tokens. */
const MAX_LABELS = 10;

const resultSchema = z
  .object({
    kind: z.enum(['wallet', 'token', 'transaction', 'block', 'label']),
    value: z.string().describe('The address (also for a label), the transaction hash or the block number'),
    name: z.string().nullable().describe('Name of the token, or label of the address'),
    symbol: z.string().nullable().describe('Of a token'),
    detail: z.string().nullable().describe('For display: what distinguishes this result from others'),
  })
  .meta({ id: 'SearchResult' });

type Result = z.output<typeof resultSchema>;

export const search = defineEndpoint({
  method: 'GET',
  path: '/api/search',
  tag: 'chain',
  list: 'results',
  summary:
    'Finds tokens by symbol or name, labels by name, addresses and transactions by hash, blocks by number or hash',
  params: {
    q: searchText().describe(
      'An address, a transaction or block hash, a block number, or the beginning of a token symbol or name',
    ),
  },
  response: {
    query: z.string(),
    results: z.array(resultSchema).max(MAX_RESULTS).describe('Exact matches first'),
    count: countField(),
  },
  example: {
    params: { q: 'exd' },
    response: {
      query: 'exd',
      results: [
        {
          kind: 'token',
          value: example.token,
          name: 'Example Dollar',
          symbol: 'EXD',
          detail: 'erc20, 90210 transfers',
        },
      ],
      count: 1,
    },
  },
  askNode({ q }, node) {
    const hash = hashOf(q);
    if (hash === null) return undefined;
    return Promise.all([node.blockOfTransaction(hash), node.blockByHash(hash)]).then(
      ([transactionBlock, block]) => ({ transactionBlock, block }),
    );
  },
  prepare({ db, walletIds, labels }) {
    const summaryOf = prepareWalletSummary(db);
    const tokenFacts = prepareTokenFacts(db);
    const tokensByText = prepareTokenSearch(db);
    const readBlock = prepareIndexedBlock(db);

    const byAddress = (address: string): Result[] => {
      const token = walletIds.withId(address, tokenFacts);
      const summary = walletIds.query(address, summaryOf);
      const wallet = plainResult(
        'wallet',
        address,
        summary === undefined ? 'no indexed activity' : `${summary.transactions} transactions`,
      );
      wallet.name = labels?.of(address)?.name ?? null;
      return token === undefined ? [wallet] : [tokenResult(address, token), wallet];
    };

    return ({ q }, { budget, nodeAnswer }) => {
      const hash = hashOf(q);
      const results: Result[] = [];
      if (ADDRESS_PATTERN.test(q)) results.push(...byAddress(q.toLowerCase()));
      else if (hash !== null) results.push(...byHash(hash, nodeAnswer ?? {}, readBlock));
      else {
        const block = /^\d{1,15}$/.test(q) ? readBlock(Number(q)) : undefined;
        if (block !== undefined) results.push(blockResult(block));
        const named = labels?.search(q, MAX_LABELS) ?? [];
        const [exact, others] = partition(named, ({ name }) => name.toLowerCase() === q.toLowerCase());
        results.push(...exact.map(labelResult));
        const room = MAX_RESULTS - results.length - others.length;
        for (const token of tokensByText(q, room, budget)) {
          results.push(tokenResult(`0x${token.address}`, token));
        }
        results.push(...others.map(labelResult));
      }
      return { query: q, results, count: results.length };
    };
  },
});

function hashOf(text: string): Hex | null {
  return /^0x[0-9a-fA-F]{64}$/.test(text) ? `0x${text.slice(2).toLowerCase()}` : null;
}

function byHash(
  hash: Hex,
  { transactionBlock = null, block = null }: NodeAnswer,
  readBlock: (number: number) => IndexedBlockRow | undefined,
): Result[] {
  const indexed = block === null ? undefined : readBlock(block.number);
  if (indexed?.hash === hash) return [blockResult(indexed)];
  if (block !== null) return [plainResult('block', `${block.number}`, 'not indexed')];
  if (transactionBlock === null) return [];
  return [
    plainResult(
      'transaction',
      hash,
      transactionBlock === 'pending' ? 'pending' : `in block ${transactionBlock.number}`,
    ),
  ];
}

function blockResult({ number, timestamp }: IndexedBlockRow): Result {
  return plainResult('block', `${number}`, secondsToIso(timestamp));
}

function labelResult({ address, name, category, source }: LabelledAddress): Result {
  return { kind: 'label', value: address, name, symbol: null, detail: `${category}, from ${source}` };
}

/** The elements that pass, and those that do not. */
function partition<T>(list: readonly T[], passes: (item: T) => boolean): [T[], T[]] {
  return [list.filter(passes), list.filter((item) => !passes(item))];
}

function tokenResult(
  value: string,
  token: { name: string | null; symbol: string | null; kind: number; viewKind: ViewKind; transfers: number },
): Result {
  const { name, symbol, transfers } = token;
  return { kind: 'token', value, name, symbol, detail: `${tokenType(token)}, ${transfers} transfers` };
}

function plainResult(kind: 'wallet' | 'transaction' | 'block', value: string, detail: string): Result {
  return { kind, value, name: null, symbol: null, detail };
}
