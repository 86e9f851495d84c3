/** GET /api/wallet_label: the kind of wallet that an address is. */
import { z } from 'zod';
import { digitsToBigInt } from '../lib/hex.ts';
import { weiToCoin } from '../lib/units.ts';
import { prepareWalletFacts, type WalletFacts } from '../query/wallets.ts';
import type { Hex } from '../types.ts';
import { defineEndpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { addressField, blockField, coinField, countField, weiField } from './fields.ts';
import { CONFIDENCES, confidenceOf, LABELS, labelsOf } from './labels.ts';
import { address } from './params.ts';

const statsSchema = z.object({
  txCount: countField(),
  uniqueTokens: countField(),
  nativeInMon: coinField(),
  nativeInWei: weiField(),
  nativeOutMon: coinField(),
  nativeOutWei: weiField(),
  ageBlocks: countField().nullable().describe('Blocks from the first one of the wallet to the head'),
  firstBlock: blockField().nullable(),
  lastBlock: blockField().nullable(),
  firstFunder: addressField().nullable(),
});

const NO_STATS: z.output<typeof statsSchema> = {
  txCount: 0,
  uniqueTokens: 0,
  nativeInMon: '0',
  nativeInWei: '0',
  nativeOutMon: '0',
  nativeOutWei: '0',
  ageBlocks: null,
  firstBlock: null,
  lastBlock: null,
  firstFunder: null,
};

export const walletLabel = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_label',
  summary: 'Labels of a wallet by what it did, with the numbers they rest on',
  params: { address: address() },
  response: {
    address: addressField(),
    labels: z.array(z.enum(LABELS)),
    confidence: z
      .enum(CONFIDENCES)
      .describe('high from 100 transactions, medium from 10, low below, none without activity'),
    stats: statsSchema,
  },
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      labels: ['trader'],
      confidence: 'high',
      stats: {
        txCount: 420,
        uniqueTokens: 23,
        nativeInMon: '12.5',
        nativeInWei: '12500000000000000000',
        nativeOutMon: '0.25',
        nativeOutWei: '250000000000000000',
        ageBlocks: 4591,
        firstBlock: 120,
        lastBlock: 4711,
        firstFunder: example.funder,
      },
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareWalletFacts(db);
    return ({ address }, { head }) => {
      const facts = walletIds.query(address, factsOf);
      return facts
        ? labelResponse(address, facts, walletIds.funderOf(facts), head.number)
        : emptyResponse(address);
    };
  },
});

function emptyResponse(address: string) {
  return { address, labels: [], confidence: 'none' as const, stats: { ...NO_STATS } };
}

function labelResponse(address: string, facts: WalletFacts, funder: Hex | null, head: number) {
  const receivedWei = digitsToBigInt(facts.nativeReceived);
  const sentWei = digitsToBigInt(facts.nativeSent);
  const ageBlocks = head - facts.firstBlock;
  return {
    address,
    labels: labelsOf({ ...facts, receivedWei, sentWei, ageBlocks }),
    confidence: confidenceOf(facts.transactions),
    stats: {
      txCount: facts.transactions,
      uniqueTokens: facts.tokens,
      nativeInMon: weiToCoin(receivedWei),
      nativeInWei: receivedWei.toString(),
      nativeOutMon: weiToCoin(sentWei),
      nativeOutWei: sentWei.toString(),
      ageBlocks,
      firstBlock: facts.firstBlock,
      lastBlock: facts.lastBlock,
      firstFunder: funder,
    },
  };
}
