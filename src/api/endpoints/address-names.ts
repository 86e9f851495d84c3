/** GET /api/address_names: what a list of addresses is called: labels, tokens, contracts. */
import * as z from 'zod';
import { prepareTokenFacts } from '../../query/tokens.ts';
import { prepareIsContract } from '../../query/wallet-code.ts';
import {
  addressField,
  contractField,
  countField,
  tokenNameFields,
  tokenTypeField,
} from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, tokenType } from '../fields.ts';
import { addressList } from '../params.ts';

const MAX_ADDRESSES = 100;

const nameSchema = z
  .object({
    address: addressField(),
    contract: contractField(),
    type: tokenTypeField().nullable().describe('Type of the token; null for an address that is none'),
    ...tokenNameFields(),
  })
  .meta({ id: 'AddressName' });

type NameRecord = z.output<typeof nameSchema>;

export const addressNames = defineEndpoint({
  method: 'GET',
  path: '/api/address_names',
  tag: 'wallets',
  list: 'names',
  summary:
    'What up to 100 addresses are called: label of the operator, name and symbol of a token, contract or not',
  params: {
    addresses: addressList(MAX_ADDRESSES).describe('Of wallets, contracts and tokens'),
  },
  response: {
    names: z.array(nameSchema).describe('In the order of the addresses, each once'),
    count: countField(),
  },
  example: {
    params: { addresses: `${example.wallet},${example.token}` },
    response: {
      names: [
        { address: example.wallet, contract: false, type: null, name: null, symbol: null, decimals: null },
        {
          address: example.token,
          contract: true,
          type: 'erc20',
          name: 'Example Dollar',
          symbol: 'EXD',
          decimals: 6,
        },
      ],
      count: 2,
    },
  },
  prepare({ db, walletIds }) {
    const tokenFacts = prepareTokenFacts(db);
    const isContract = prepareIsContract(db);
    return ({ addresses }, { unexamined }) => {
      const listed = [...new Set(addresses)];
      const ids = listed.map((address) => walletIds.idOf(address));
      const known = ids.filter((id) => id !== undefined);
      const codes = new Map(isContract(known).map((code, i) => [known[i], code]));
      const names = listed.map((address, i): NameRecord => {
        const id = ids[i];
        const token = id === undefined ? undefined : tokenFacts(id);
        const contract = token === undefined ? (codes.get(id) ?? null) : true;
        if (id !== undefined && contract === null) unexamined.push(id);
        return {
          address,
          contract,
          type: token === undefined ? null : tokenType(token),
          name: token?.name ?? null,
          symbol: token?.symbol ?? null,
          decimals: token?.decimals ?? null,
        };
      });
      return { names, count: names.length };
    };
  },
});
