/** Answers the messages of one POST to `/mcp`. Stateless, so any daemon can answer the next request. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../../api/endpoint.ts';
import { RequestError } from '../../lib/errors.ts';
import { version } from '../../lib/version.ts';
import { callEndpoint, type EndpointTool, RESOURCE_TEMPLATES, readResource } from './tools.ts';

const INSTRUCTIONS = `Wallets, tokens and transfers of one chain, indexed from its first block on. Addresses are 0x and \
40 hex digits. Every answer shows the state at one block. To trace money, start with wallet_summary and funding_chain; \
to find related wallets, coordinated_wallets. For the next page of a list, pass its nextCursor as cursor.`;

/** Answers one request as the protocol's streamable HTTP transport defines it, without sessions or a stream. */
export async function answerMcp(
  request: Request,
  parsedBody: unknown,
  tools: ReadonlyMap<string, EndpointTool>,
  caller: () => Caller,
): Promise<Response> {
  const server = createServer(tools, caller);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}

function createServer(tools: ReadonlyMap<string, EndpointTool>, caller: () => Caller): Server {
  const server = new Server(
    { name: 'atlas-node', version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  // Without sessions only the same POST can carry a cancellation, and its answer waits for the cancelled call.
  server.removeNotificationHandler('notifications/cancelled');
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools.values()].map(({ tool }) => tool),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(tools, params.name, params.arguments ?? {}, caller),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const text = await readResource(uri, tools, caller()).catch((error: unknown) => {
      if (error instanceof RequestError) throw new McpError(ErrorCode.InvalidParams, error.message);
      throw error;
    });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  });
  return server;
}

/** A refusal is a result with `isError`, so that the model reads the reason and can correct its call. */
async function callTool(
  tools: ReadonlyMap<string, EndpointTool>,
  name: string,
  given: Readonly<Record<string, unknown>>,
  caller: () => Caller,
): Promise<CallToolResult> {
  const known = tools.get(name);
  if (known === undefined) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${name}`);
  try {
    const text = await callEndpoint(known.prepared, given, caller());
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, message, param } = error;
    return {
      isError: true,
      content: [{ type: 'text', text: JSON.stringify({ error: { code, message, param } }) }],
    };
  }
}
