/**
 * Answers the messages of one POST to `/mcp`, in the protocol of 2026-07-28 or an older one. Stateless, so any daemon
 * can answer the next request.
 */
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../../api/endpoint.ts';
import { RequestError } from '../../lib/errors.ts';
import { isObject } from '../../lib/text.ts';
import { version } from '../../lib/version.ts';
import type { Logger } from '../../log/logger.ts';
import { callEndpoint, type EndpointTool, RESOURCE_TEMPLATES, readResource } from './tools.ts';

const INSTRUCTIONS = `Wallets, tokens and transfers of one chain, indexed from its first block on. Addresses are 0x \
and 40 hex digits. Every answer shows the state at one block. To trace money, start with wallet_summary and \
funding_chain; to find related wallets, coordinated_wallets; to read a transaction, transaction; to judge a trader, \
wallet_trades and wallet_profit. For the next page of a list, pass its nextCursor as cursor.

Units: amounts are decimal text, and amount has two meanings. In a list of transfers (address_transfers, \
token_transfers, block_transfers, transaction_transfers, recent_token_transfers_out) and in trades, profits, traders \
and launches it is an integer in base units: wei of the native coin, or the token's smallest unit; divide it by \
10^decimals. In records about the native coin alone (funding, hops, recipients, coordinated wallets, whale_transfers) \
it is in whole coins, such as "1.5", and amountWei is the same in wei (1 coin = 10^18 wei). A balance of a token is \
in its base units. Native sums (nativeReceived, nativeIn, nativeBalance and so on) and min_mon are in whole coins, \
with an exact twin in wei whose name ends in Wei.`;

/** What an answer is made of. */
export interface McpContext {
  /** The tools that the key may use. */
  tools: ReadonlyMap<string, EndpointTool>;
  caller: () => Caller;
  log: Logger;
}

/**
 * Answers one request as the protocol's streamable HTTP transport defines it, without sessions and without a stream
 * that stays open. `parsedBody` is undefined if the body is not JSON.
 */
export async function answerMcp(
  request: Request,
  parsedBody: unknown,
  context: McpContext,
): Promise<Response> {
  const isLegacy = parsedBody === undefined || (await isLegacyRequest(request, parsedBody));
  if (isLegacy) return answerLegacy(request, parsedBody, context);
  // No capability of createServer is about changes, so a subscription ends at once.
  const handler = createMcpHandler(() => createServer(context), { legacy: 'reject', keepAliveMs: 0 });
  return handler.fetch(request, { parsedBody });
}

/** Answers in JSON, which the handler of the package would send as a stream. */
async function answerLegacy(request: Request, parsedBody: unknown, context: McpContext): Promise<Response> {
  const server = createServer(context);
  // Without sessions only the same POST can carry a cancellation, and its answer waits for the cancelled call.
  server.removeNotificationHandler('notifications/cancelled');
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, parsedBody === undefined ? {} : { parsedBody });
  } finally {
    await server.close();
  }
}

function createServer({ tools, caller, log }: McpContext): Server {
  const server = new ToldServer(log);
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler('tools/call', ({ params }) =>
    callTool(tools, params.name, params.arguments ?? {}, caller),
  );
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const text = await readResource(uri, tools, caller);
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  });
  return server;
}

/** A server whose errors tell a client what to correct, and nothing else. */
class ToldServer extends Server {
  readonly #log: Logger;

  constructor(log: Logger) {
    super(
      { name: 'atlas-node', version },
      { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
    );
    this.#log = log;
  }

  /** The package calls this for each handler, its own ones included. */
  protected override _wrapHandler(...args: Parameters<Server['_wrapHandler']>) {
    const handler = super._wrapHandler(...args);
    return (...request: Parameters<typeof handler>) =>
      handler(...request).catch((error: unknown) => {
        throw this.#told(error);
      });
  }

  /** The package would send the text of an unexpected error to the client. */
  #told(error: unknown): ProtocolError {
    const problem = error instanceof Error ? paramsProblem(error.message) : null;
    if (problem !== null) return new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
    if (error instanceof ProtocolError) return error;
    if (error instanceof RequestError)
      return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    this.#log.error({ err: error, route: '/mcp' }, 'request failed');
    return new ProtocolError(ProtocolErrorCode.InternalError, 'internal error');
  }
}

/** The first problem in the list that the package throws, as text, for params that do not fit a method. */
function paramsProblem(text: string): string | null {
  const [, list = ''] = /^(?:Invalid \S+ request: )?(\[\n.*\])$/s.exec(text) ?? [];
  if (list === '') return null;
  let issues: unknown;
  try {
    issues = JSON.parse(list);
  } catch {
    return null; // the text of another error, which only looks like such a list
  }
  const first: unknown = Array.isArray(issues) ? issues[0] : undefined;
  if (!isObject(first) || !Array.isArray(first.path)) return null;
  return `${first.path.join('.')}: ${String(first.message)}`;
}

/** A refusal is a result with `isError`, so that the model reads the reason and can correct its call. */
async function callTool(
  tools: ReadonlyMap<string, EndpointTool>,
  name: string,
  given: Readonly<Record<string, unknown>>,
  caller: () => Caller,
): Promise<CallToolResult> {
  const known = tools.get(name);
  if (known === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
  try {
    const text = await callEndpoint(known, given, caller());
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
