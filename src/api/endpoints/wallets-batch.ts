/** POST /api/wallets/batch: key facts about up to 100 wallets. */
import * as z from 'zod';
import type { Hex } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { prepareWalletFacts, type WalletFacts } from '../../query/wallets.ts';
import { addressField, blockField, countField, timeField } from '../../schemas/fields.ts';
import { defineEndpoint, type RequestContext } from '../endpoint.ts';
import { example } from '../fields.ts';
import { nativeBalanceFields, nativeBalanceOf } from '../node-reads.ts';
import { addressAsSent, listOf } from '../params.ts';
import { walletFundingSource } from './wallet-funding-source.ts';
import { walletLabel } from './wallet-label.ts';
import { walletSummary } from './wallet-summary.ts';
import { walletTokens } from './wallet-tokens.ts';

/** What an entry may include. */
const FIELD_NAMES = ['summary', 'funding', 'labels', 'tokens', 'nativeBalance'] as const;
type FieldName = (typeof FIELD_NAMES)[number];

const TOKENS_PER_WALLET = 20;

const entrySchema = z
  .object({
    firstSeenBlock: blockField(),
    lastSeenBlock: blockField(),
    txCount: countField(),
    lastActivity: timeField(),
    firstFunder: addressField().nullable(),
    firstFundingBlock: blockField().nullable(),
    summary: walletSummary.response.optional().describe('The answer of wallet_summary'),
    funding: walletFundingSource.response.optional().describe('The answer of wallet_funding_source'),
    labels: walletLabel.response.optional().describe('The answer of wallet_label'),
    tokens: walletTokens.response
      .optional()
      .describe(`The answer of wallet_tokens: the first page, of ${TOKENS_PER_WALLET} tokens`),
    nativeBalance: nativeBalanceFields.nativeBalance.optional(),
    nativeBalanceWei: nativeBalanceFields.nativeBalanceWei.optional(),
    nativeBalanceReason: nativeBalanceFields.nativeBalanceReason.optional(),
  })
  .meta({ id: 'BatchEntry' });

/** Work units of the answer for a field. */
const UNITS_PER_FIELD = 300;

function walletEntry(facts: WalletFacts, funder: Hex | null): z.output<typeof entrySchema> {
  return {
    firstSeenBlock: facts.firstBlock,
    lastSeenBlock: facts.lastBlock,
    txCount: facts.transactions,
    lastActivity: secondsToIso(facts.lastTimestamp),
    firstFunder: funder,
    firstFundingBlock: facts.fundingBlock,
  };
}

export const walletsBatch = defineEndpoint({
  method: 'POST',
  path: '/api/wallets/batch',
  tag: 'wallets',
  summary:
    'First and last activity, transaction count and first funder of up to 100 wallets; totals, funding, ' +
    'labels, tokens and balances on request',
  params: {
    addresses: listOf(addressAsSent(), 100).describe(
      '1 to 100 wallets; each is a key of the answer, spelled as here',
    ),
    fields: z
      .array(z.enum(FIELD_NAMES, { error: `must be one of ${FIELD_NAMES.join(', ')}` }), {
        error: `must be a list of ${FIELD_NAMES.join(', ')}`,
      })
      .optional()
      .describe(
        'Adds to each entry the answers of wallet_summary, wallet_funding_source, wallet_label and ' +
          'wallet_tokens, and ' +
          'the native balance from the node; a summary then has it too',
      ),
  },
  response: {
    wallets: z
      .record(z.string(), entrySchema.nullable())
      .describe(
        'Keyed by address exactly as sent; null for a wallet without indexed activity, whatever its native balance',
      ),
    count: countField(),
  },
  example: {
    params: {
      addresses: [example.wallet, '0x000000000000000000000000000000000000dEaD'],
    },
    response: {
      wallets: {
        [example.wallet]: {
          firstSeenBlock: 120,
          lastSeenBlock: 4711,
          txCount: 42,
          lastActivity: example.time,
          firstFunder: example.funder,
          firstFundingBlock: 120,
        },
        '0x000000000000000000000000000000000000dEaD': null,
      },
      count: 2,
    },
  },
  nodeParameter: 'fields',
  askNode({ addresses, fields = [] }, node, head) {
    if (!fields.includes('nativeBalance')) return undefined;
    const distinct = new Set(addresses.map((address) => address.toLowerCase()));
    return node.balancesAt([...distinct], head.number).then((balances) => ({ balances }));
  },
  prepare(source) {
    const { db, walletIds } = source;
    const facts = prepareWalletFacts(db);
    const summary = walletSummary.prepare(source);
    const funding = walletFundingSource.prepare(source);
    const labels = walletLabel.prepare(source);
    const tokens = walletTokens.prepare(source);
    const limit = `${TOKENS_PER_WALLET}`;
    const membersOf: Record<FieldName, (address: string, context: RequestContext) => object> = {
      summary: (address, context) => ({ summary: summary({ address }, context) }),
      funding: (address, context) => ({ funding: funding({ address }, context) }),
      labels: (address, context) => ({ labels: labels({ address }, context) }),
      tokens: (address, context) => ({ tokens: tokens({ address, limit }, context) }),
      nativeBalance: (address, { nodeAnswer }) =>
        nativeBalanceOf(nodeAnswer?.balances?.get(address.toLowerCase())),
    };
    return ({ addresses, fields = [] }, context) => {
      const wallets: Record<string, z.output<typeof entrySchema> | null> = {};
      for (const address of addresses) {
        const found = walletIds.query(address.toLowerCase(), facts);
        wallets[address] = null;
        if (found === undefined) continue;
        const entry = walletEntry(found, walletIds.funderOf(found));
        for (const field of new Set(fields)) {
          context.budget.spend(UNITS_PER_FIELD);
          Object.assign(entry, membersOf[field](address, context));
        }
        wallets[address] = entry;
      }
      return { wallets, count: Object.keys(wallets).length };
    };
  },
});
