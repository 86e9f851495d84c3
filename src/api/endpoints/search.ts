/** GET /api/search: the tokens, addresses, transactions and blocks that a text may mean. */
import * as z from 'zod';
import type { LabelledAddress } from '../../labels/labels.ts';
import type { Hex } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { isServiceName, readSearchText, type SearchSubject } from '../../model/search-text.ts';
import type { ViewKind } from '../../model/transfer-kind.ts';
import { type AddressPart, prepareAddressSearch } from '../../query/address-search.ts';
import { type IndexedBlockRow, prepareIndexedBlock } from '../../query/blocks.ts';
import type { Head } from '../../query/snapshot.ts';
import { prepareTokenFacts, prepareTokenSearch } from '../../query/tokens.ts';
import { prepareWalletSummary } from '../../query/wallets.ts';
import type { WorkBudget } from '../../query/work-budget.ts';
import { countField } from '../../schemas/fields.ts';
import { defineEndpoint, type RequestContext } from '../endpoint.ts';
import { example, tokenType } from '../fields.ts';
import type { NodeAnswer } from '../node-reads.ts';
import { searchText } from '../params.ts';

const MAX_RESULTS = 20;
/** Most results that are labels. The rest is reserved for tokens. */
const MAX_LABELS = 10;
/** Shortest text that is searched for within labels, not only at their beginning. */
const MIN_WITHIN = 2;

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
    'Finds tokens by symbol or name, labels by parts of their name, addresses and transactions by hash, ' +
    'blocks by number or hash',
  params: {
    q: searchText().describe(
      'An address (also shortened: 0x3f5c…f0be) or hash, a link that contains one, a block number (1,234 or ' +
        '#1234), the beginning of a token symbol or name, or words of a label',
    ),
  },
  response: {
    query: z.string(),
    results: z.array(resultSchema).max(MAX_RESULTS).describe('Exact matches first'),
    count: countField(),
    note: z
      .string()
      .nullable()
      .describe('Why something is not among the results, such as a block that is not indexed yet'),
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
          detail: 'erc20, 90,210 transfers',
        },
      ],
      count: 1,
      note: null,
    },
  },
  askNode({ q }, node) {
    const subject = readSearchText(q);
    if (subject.kind !== 'hash') return undefined;
    return Promise.all([node.blockOfTransaction(subject.hash), node.blockByHash(subject.hash)]).then(
      ([transactionBlock, block]) => ({ transactionBlock, block }),
    );
  },
  prepare({ db, walletIds, labels }) {
    const summaryOf = prepareWalletSummary(db);
    const tokenFacts = prepareTokenFacts(db);
    const tokensByText = prepareTokenSearch(db);
    const addressesByPart = prepareAddressSearch(db);
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

    const byPart = ({ start, end }: AddressPart, budget: WorkBudget): SearchAnswer => {
      const { addresses, isCut } = addressesByPart({ start, end }, MAX_RESULTS, budget);
      const indexed = addresses.map((digits) => `0x${digits}`);
      const named = labels?.searchAddresses(start, end, MAX_LABELS) ?? [];
      const all = new Set([...indexed, ...named.map(({ address }) => address)]);
      return {
        results: [...all].flatMap(byAddress),
        note: isCut
          ? `more addresses begin with 0x${start} than one search compares: give more digits`
          : null,
      };
    };

    /** The labels that the text begins, then those that contain its words. */
    const labelsNamed = (text: string, budget: WorkBudget): LabelledAddress[] => {
      if (labels === undefined || labels.isEmpty) return [];
      const first = labels.search(text, MAX_LABELS);
      if (first.length === MAX_LABELS || text.length < MIN_WITHIN) return first;
      budget.spend(labels.count);
      const known = new Set(first.map(({ address }) => address));
      const within = labels.searchWords(text, MAX_LABELS).filter(({ address }) => !known.has(address));
      return [...first, ...within].slice(0, MAX_LABELS);
    };

    /** Up to `room` tokens and labels. */
    const byName = (text: string, room: number, budget: WorkBudget): Result[] => {
      const named = labelsNamed(text, budget);
      const [exact, others] = partition(named, ({ name }) => name.toLowerCase() === text.toLowerCase());
      const tokens = tokensByText(text, Math.max(0, room - named.length), budget);
      return [
        ...exact.map(labelResult),
        ...tokens.map((token) => tokenResult(`0x${token.address}`, token)),
        ...others.map(labelResult),
      ].slice(0, room);
    };

    const find = (subject: SearchSubject, q: string, context: RequestContext): SearchAnswer => {
      const { budget, head, nodeAnswer = {} } = context;
      switch (subject.kind) {
        case 'address':
          return { results: byAddress(subject.address), note: null };
        case 'hash':
          return { results: byHash(subject.hash, nodeAnswer, readBlock), note: null };
        case 'block': {
          const { results, note } = byNumber(subject.number, head, readBlock);
          if (subject.isBare) results.push(...byName(q, MAX_RESULTS - results.length, budget));
          return { results, note };
        }
        case 'addressPart': {
          const { results, note } = byPart(subject, budget);
          const room = Math.max(0, MAX_RESULTS - results.length);
          return { results: [...results, ...byName(q, room, budget)].slice(0, MAX_RESULTS), note };
        }
        case 'text': {
          const results = byName(subject.text, MAX_RESULTS, budget);
          return { results, note: results.length === 0 ? nameNote(subject.text) : null };
        }
      }
    };
    return ({ q }, context) => {
      const { results, note } = find(readSearchText(q), q, context);
      return { query: q, results, count: results.length, note };
    };
  },
});

interface SearchAnswer {
  results: Result[];
  note: string | null;
}

function byNumber(
  number: number,
  head: Head,
  readBlock: (number: number) => IndexedBlockRow | undefined,
): SearchAnswer {
  const block = readBlock(number);
  if (block !== undefined) return { results: [blockResult(block)], note: null };
  const note =
    number > head.number
      ? `block ${number} is beyond the last indexed block ${head.number}`
      : `block ${number} is before the first indexed block ${head.startBlock}`;
  return { results: [], note };
}

function nameNote(text: string): string | null {
  if (!isServiceName(text)) return null;
  return `${text} is a name of a naming service, which are not resolved here: search for its address, or for a label`;
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
  const moved = transfers === 1 ? '1 transfer' : `${transfers.toLocaleString('en-US')} transfers`;
  return { kind: 'token', value, name, symbol, detail: `${tokenType(token)}, ${moved}` };
}

function plainResult(kind: 'wallet' | 'transaction' | 'block', value: string, detail: string): Result {
  return { kind, value, name: null, symbol: null, detail };
}
