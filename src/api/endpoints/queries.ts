/** GET /api/queries: the operator's named queries. */
import * as z from 'zod';
import { QUERY_PARAMETER_TYPES } from '../../model/named-query.ts';
import { countField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';

const parameterSchema = z
  .object({
    name: z.string(),
    type: z.enum(QUERY_PARAMETER_TYPES),
    required: z.boolean(),
    default: z.string().nullable().describe('The value without one in the request, as text; null for NULL'),
    minimum: z.string().nullable().describe('Of an integer, as text; null for any other'),
    maximum: z.string().nullable().describe('Likewise'),
    description: z.string(),
  })
  .meta({ id: 'QueryParameter' });

const querySchema = z
  .object({
    name: z.string(),
    path: z.string().describe('Where it is called'),
    description: z.string(),
    parameters: z.array(parameterSchema),
    columns: z.array(z.string()).describe('The columns of its rows'),
    limit: countField().describe('Most rows of an answer'),
    timeoutSeconds: countField().describe('The time after which it is ended'),
    tiers: z
      .array(z.string())
      .describe('The tiers whose keys may call it; empty for every key but that of visitors'),
  })
  .meta({ id: 'NamedQuery' });

export const queries = defineEndpoint({
  method: 'GET',
  path: '/api/queries',
  tag: 'queries',
  list: 'queries',
  summary: 'The queries that the operator of this server offers by name, with their parameters',
  params: {},
  response: { queries: z.array(querySchema), count: countField() },
  example: {
    params: {},
    response: {
      queries: [
        {
          name: 'top_holders',
          path: '/api/queries/top_holders',
          description: 'The largest holders of a token',
          parameters: [
            {
              name: 'token',
              type: 'address',
              required: true,
              default: null,
              minimum: null,
              maximum: null,
              description: 'Contract of the token',
            },
          ],
          columns: ['holder_address', 'balance'],
          limit: 1000,
          timeoutSeconds: 10,
          tiers: [],
        },
      ],
      count: 1,
    },
  },
  prepare({ queries }) {
    return () => {
      const records = (queries?.listed ?? []).map(({ query, columns }) => ({
        name: query.name,
        path: `/api/queries/${query.name}`,
        description: query.description,
        parameters: query.parameters.map((parameter) => ({
          name: parameter.name,
          type: parameter.type,
          required: parameter.isRequired,
          default: parameter.default === null ? null : String(parameter.default),
          minimum: parameter.type === 'integer' ? String(parameter.min) : null,
          maximum: parameter.type === 'integer' ? String(parameter.max) : null,
          description: parameter.description,
        })),
        columns: [...columns],
        limit: query.rows,
        timeoutSeconds: query.timeoutMs / 1000,
        tiers: [...query.tiers],
      }));
      return { queries: records, count: records.length };
    };
  },
});
