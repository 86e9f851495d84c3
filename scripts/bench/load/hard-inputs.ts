/** Further ways to ask the endpoints of trades and histories, each of which reads by other means. */
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import type { SubjectSet } from '../setup/subjects.ts';

type Inputs = readonly Record<string, string>[];

/** An amount that no transfer has, so that a filter reads on. */
const TOO_MUCH = `${2n ** 255n}`;

function hardInputs(subjects: SubjectSet): Record<string, Record<string, Inputs>> {
  const { wallets, tokens, held, window, half, quote } = subjects;
  const ofWallets = (more: object): Inputs => wallets.map((address) => ({ address, ...more }));
  const ofTokens = (more: object): Inputs => tokens.map((token) => ({ token, ...more }));
  const ofHeld = (more: object): Inputs => held.map((pair) => ({ ...pair, ...more }));
  const inQuote = (inputs: (more: object) => Inputs): Inputs => (quote === null ? [] : inputs({ quote }));
  const blocks = `${half}`;
  return {
    wallet_trades: {
      'limit=200': ofWallets({ limit: '200' }),
      token: ofHeld({}),
      'kind=swap': ofWallets({ kind: 'swap' }),
      quote: inQuote(ofWallets),
      window: ofWallets(window),
      initiated: ofWallets({ initiated: 'true', limit: '200' }),
    },
    wallet_profit: { token: ofHeld({}), quote: inQuote(ofWallets), 'limit=200': ofWallets({ limit: '200' }) },
    balance_history: {
      'points=500': ofWallets({ points: '500' }),
      window: ofWallets(window),
      token: ofHeld({ points: '500' }),
      'token, window': ofHeld(window),
    },
    wallet_tokens: {
      'block, of the middle': ofWallets({ block: `${subjects.blocks[subjects.blocks.length >> 1] ?? 0}` }),
    },
    token_traders: {
      'all time': ofTokens({ limit: '200' }),
      'order=loss': ofTokens({ order: 'loss', limit: '200' }),
      'order=recent': ofTokens({ order: 'recent', limit: '200' }),
      'blocks, half': ofTokens({ blocks }),
      'blocks, half, quote': inQuote((more) => ofTokens({ blocks, ...more })),
      native: inQuote((more) => [{ token: 'native', blocks, ...more }]),
    },
    token_launch: { 'limit=200': ofTokens({ limit: '200' }), quote: inQuote(ofTokens) },
    token_transfers: {
      'limit=500': ofTokens({ limit: '500' }),
      window: ofTokens({ ...window, limit: '500' }),
      counterparty: held.map(({ address, token }) => ({ token, counterparty: address })),
      'min_amount, none': ofTokens({ min_amount: TOO_MUCH }),
      'type=erc1155': ofTokens({ type: 'erc1155' }),
    },
    address_transfers: { token: ofHeld({}), window: ofWallets({ ...window, limit: '500' }) },
  };
}

export interface HardInputs {
  /** Like `wallet_profit (token)`. */
  name: string;
  endpoint: Endpoint;
  inputs: Inputs;
}

export function hardInputsOf(subjects: SubjectSet): HardInputs[] {
  return Object.entries(hardInputs(subjects)).flatMap(([path, ways]) => {
    const endpoint = ENDPOINTS.find((each) => each.path === `/api/${path}`)!;
    return Object.entries(ways).flatMap(([way, inputs]) =>
      inputs.length === 0 ? [] : [{ name: `${path} (${way})`, endpoint, inputs }],
    );
  });
}
