/** GET /api/method_names: the functions that selectors stand for. */
import * as z from 'zod';
import { Signatures } from '../../abi/signatures.ts';
import { countField } from '../../schemas/fields.ts';
import { selectorField, signatureFields } from '../decoded-fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { selectorList } from '../params.ts';

const MAX_SELECTORS = 100;

const methodSchema = z.object({ selector: selectorField(), ...signatureFields() }).meta({ id: 'MethodName' });

export const methodNames = defineEndpoint({
  method: 'GET',
  path: '/api/method_names',
  tag: 'chain',
  list: 'methods',
  summary: 'The functions that up to 100 selectors stand for, by standards and the ABI files of the operator',
  params: {
    selectors: selectorList(MAX_SELECTORS).describe('The first four bytes of the inputs of transactions'),
  },
  response: {
    methods: z.array(methodSchema).describe('In the order of the selectors, each once'),
    count: countField(),
  },
  example: {
    params: { selectors: '0xa9059cbb,0x12345678' },
    response: {
      methods: [
        { selector: '0xa9059cbb', name: 'transfer', signature: 'transfer(address,uint256)' },
        { selector: '0x12345678', name: null, signature: null },
      ],
      count: 2,
    },
  },
  prepare({ signatures = new Signatures() }) {
    return ({ selectors }) => {
      const methods = selectors.map((selector) => {
        const known = signatures.methodOf(selector);
        return { selector, name: known?.name ?? null, signature: known?.signature ?? null };
      });
      return { methods, count: methods.length };
    };
  },
});
