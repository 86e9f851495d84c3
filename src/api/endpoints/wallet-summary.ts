/** GET /api/wallet_summary: the totals of a wallet. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin } from '../../lib/units.ts';
import { prepareWalletSummary } from '../../query/wallets.ts';
import {
  addressField,
  blockField,
  coinField,
  countField,
  timeField,
  weiField,
} from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { nativeBalanceFields, nativeBalanceOf } from '../node-reads.ts';
import { address, flag } from '../params.ts';

export const walletSummary = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_summary',
  tag: 'wallets',
  summary: 'First and last activity, counts, native totals and first funder of a wallet',
  params: {
    address: address(),
    native_balance: flag().default(false).describe('Whether to query the node for nativeBalance'),
  },
  response: {
    address: addressField(),
    firstSeenBlock: blockField().nullable(),
    lastSeenBlock: blockField().nullable(),
    txCount: countField(),
    uniqueTokens: countField(),
    nativeReceived: coinField(),
    nativeReceivedWei: weiField(),
    nativeSent: coinField(),
    nativeSentWei: weiField(),
    ...nativeBalanceFields,
    firstFundingSource: addressField().nullable(),
    lastActivity: timeField().nullable(),
  },
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      firstSeenBlock: 120,
      lastSeenBlock: 4711,
      txCount: 42,
      uniqueTokens: 3,
      nativeReceived: '12.5',
      nativeReceivedWei: '12500000000000000000',
      nativeSent: '0.25',
      nativeSentWei: '250000000000000000',
      nativeBalance: null,
      nativeBalanceWei: null,
      nativeBalanceReason: null,
      firstFundingSource: example.funder,
      lastActivity: example.time,
    },
  },
  nodeParameter: 'native_balance',
  askNode({ address, native_balance }, node, head) {
    if (!native_balance) return undefined;
    return node.balancesAt([address], head.number).then((balances) => ({ balances }));
  },
  prepare({ db, walletIds }) {
    const summary = prepareWalletSummary(db);
    return ({ address }, { nodeAnswer }) => {
      const facts = walletIds.query(address, summary);
      const received = digitsToBigInt(facts?.nativeReceived ?? '').toString();
      const sent = digitsToBigInt(facts?.nativeSent ?? '').toString();
      return {
        address,
        firstSeenBlock: facts?.firstBlock ?? null,
        lastSeenBlock: facts?.lastBlock ?? null,
        txCount: facts?.transactions ?? 0,
        uniqueTokens: facts?.tokens ?? 0,
        nativeReceived: weiToCoin(received),
        nativeReceivedWei: received,
        nativeSent: weiToCoin(sent),
        nativeSentWei: sent,
        ...nativeBalanceOf(nodeAnswer?.balances?.get(address)),
        firstFundingSource: walletIds.funderOf(facts),
        lastActivity: facts ? secondsToIso(facts.lastTimestamp) : null,
      };
    };
  },
});
