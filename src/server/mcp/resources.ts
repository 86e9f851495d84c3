/** The resources of `/mcp`: combined answers of several endpoints about one wallet, for a reader without a plan. */
import type { ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import { notAllowed } from '../../access/allow-list.ts';
import type { Caller } from '../../api/endpoint.ts';
import { RequestError } from '../../lib/errors.ts';
import { callEndpoint, type EndpointTool } from './tools.ts';

interface WalletResource {
  template: ResourceTemplate;
  pattern: RegExp;
  /** The tools whose answers make up the resource, with their parameters besides `address`. */
  parts: readonly { tool: string; params: Readonly<Record<string, unknown>> }[];
}

const RESOURCES: readonly WalletResource[] = [
  {
    template: {
      uriTemplate: 'atlas://wallet/{address}',
      name: 'wallet_dossier',
      title: 'Wallet dossier',
      description: 'Totals, behaviour labels, first funding, tokens and counterparties of a wallet',
      mimeType: 'application/json',
    },
    pattern: /^atlas:\/\/wallet\/(0x[0-9a-fA-F]{40})$/,
    parts: [
      { tool: 'wallet_summary', params: {} },
      { tool: 'wallet_label', params: {} },
      { tool: 'wallet_funding_source', params: {} },
      { tool: 'wallet_tokens', params: { limit: 20 } },
      { tool: 'wallet_counterparties', params: { limit: 20 } },
    ],
  },
  {
    template: {
      uriTemplate: 'atlas://funding/{address}',
      name: 'funding_graph',
      title: 'Funding graph',
      description:
        'Who funded a wallet, hop by hop; which wallets it funded; which other wallets share its funder',
      mimeType: 'application/json',
    },
    pattern: /^atlas:\/\/funding\/(0x[0-9a-fA-F]{40})$/,
    parts: [
      { tool: 'funding_chain', params: {} },
      { tool: 'funding_recipients', params: { limit: 50, blocks: 1_000_000 } },
      { tool: 'coordinated_wallets', params: { limit: 50 } },
    ],
  },
];

export const RESOURCE_TEMPLATES: readonly ResourceTemplate[] = RESOURCES.map(({ template }) => template);

/** How many requests reading the resource costs: one per endpoint. */
export function resourceCost(uri: unknown): number {
  return RESOURCES.find(({ pattern }) => typeof uri === 'string' && pattern.test(uri))?.parts.length ?? 1;
}

/** The JSON text of a resource. Rejects with RequestError `not_found` for an unknown URI. */
export async function readResource(
  uri: string,
  tools: ReadonlyMap<string, EndpointTool>,
  caller: Caller,
): Promise<string> {
  for (const { pattern, parts } of RESOURCES) {
    const address = pattern.exec(uri)?.[1];
    if (address === undefined) continue;
    const members = await Promise.all(
      parts.map(async ({ tool, params }) => {
        const { prepared } = tools.get(tool) ?? {};
        if (prepared === undefined) throw notAllowed(`this key may not use ${tool}, a part of ${uri}`);
        return `${JSON.stringify(tool)}:${await callEndpoint(prepared, { address, ...params }, caller)}`;
      }),
    );
    return `{${members.join()}}`;
  }
  const known = RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(' and ');
  throw new RequestError(404, 'not_found', `there is no resource ${uri}; known are ${known}`);
}
