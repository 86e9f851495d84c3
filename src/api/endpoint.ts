/** A REST endpoint: the schemas of its parameters and answer, and its handler. */
import * as z from 'zod';
import type { Signatures } from '../abi/signatures.ts';
import type { Labels } from '../labels/labels.ts';
import { RequestError, type RequestErrorCode } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { Head } from '../query/snapshot.ts';
import type { WalletIdCache } from '../query/wallet-id-cache.ts';
import type { WorkBudget } from '../query/work-budget.ts';
import type { Db } from '../store/open-database.ts';
import { addLabels, addressPlan } from './address-labels.ts';
import { csvWriter } from './csv.ts';
import type { NodeAnswer, NodeReads } from './node-reads.ts';
import type { QueryListing } from './queries/query-listing.ts';
import type { ApiResult } from './read-pool/read-pool.ts';
import { parseSeen, prepareRequireSeen, SEEN_PARAMETER } from './seen.ts';

/** Error codes of schemas that have their own. */
export const errorCodes = z.registry<{ code: RequestErrorCode }>();

/**
 * Returns a function that parses input by the schema and throws RequestError 400 for the first error. `code` applies to
 * schemas without an entry in `errorCodes`. Schema messages continue a sentence that starts with the parameter's name.
 */
export function inputParser<S extends z.ZodObject>(
  schema: S,
  code: RequestErrorCode,
): (input: unknown) => z.output<S> {
  return (input) => {
    const result = schema.safeParse(input);
    if (result.success) return result.data;
    throw validationError(schema, result.error.issues[0], code);
  };
}

function validationError(
  schema: z.ZodObject,
  issue: z.core.$ZodIssue | undefined,
  fallback: RequestErrorCode,
): RequestError {
  if (issue === undefined || issue.path.length === 0) {
    return new RequestError(400, fallback, 'the body must be a JSON object');
  }
  const tooLong = issue.code === 'too_big' && issue.origin === 'array';
  const code = tooLong ? 'batch_too_large' : (errorCodes.get(schemaAt(schema, issue.path))?.code ?? fallback);
  const param = formatPath(issue.path);
  return new RequestError(400, code, `${param} ${issue.message}`, param);
}

/** `addresses[3]` for the path `['addresses', 3]`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return schemaAt(schema.unwrap(), path);
  const [part, ...rest] = path;
  if (part === undefined) return schema;
  if (schema instanceof z.ZodObject) return schemaAt(schema.shape[String(part)], rest);
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, rest);
  return schema;
}

export function notReady(): RequestError {
  return new RequestError(503, 'not_ready', 'no block is indexed yet');
}

/** The data sources of endpoints. Statements are prepared once, at startup. */
export interface EndpointSource {
  db: Db;
  /** Uses the same connection as `db`. */
  walletIds: WalletIdCache;
  /** Symbol of the chain's native coin. */
  nativeSymbol: string;
  /** `index.max_reorg`. */
  maxReorg: number;
  /** The operator's labels of addresses. */
  labels?: Labels | undefined;
  /** The lists of `[trades]`. */
  tradeLists?: ConfiguredTradeLists | undefined;
  /** The named queries. */
  queries?: QueryListing | undefined;
  /** The functions, events and errors that are known. Default: those of standards. */
  signatures?: Signatures | undefined;
}

/** The inputs of an answer besides its parameters. */
export interface Caller {
  /** The last block of the commit being read. */
  head: Head;
  /** Largest `depth` the caller may pass to funding_chain. */
  chainDepth: number;
  /** Aborts when nobody waits for the answer of a named query any more. */
  signal?: AbortSignal;
}

export interface RequestContext extends Caller {
  /** Bounds the work for the answer. */
  budget: WorkBudget;
  /** The node's answer to the endpoint's `askNode`. */
  nodeAnswer?: NodeAnswer;
  /** Receives the wallets of the answer of which it is unknown whether they are contracts. */
  unexamined: number[];
}

/** Returns the answer as a plain object. `input` is the query's text values, or the parsed body of a POST. */
export type EndpointHandler = (input: unknown, context: RequestContext) => object;

/** The answer as JSON, or as CSV if a list is requested with `format=csv`. */
export function apiResult(
  { toCsv }: Endpoint,
  input: unknown,
  answer: object,
  { head, unexamined }: Pick<RequestContext, 'head' | 'unexamined'>,
): ApiResult {
  const result = { head, ...(unexamined.length > 0 && { unexamined }) };
  if (toCsv === undefined || !isObject(input) || input.format !== 'csv')
    return { ...result, body: JSON.stringify(answer) };
  const nextCursor: unknown = Reflect.get(answer, 'nextCursor') ?? null;
  return { ...result, body: toCsv(answer), nextCursor: nextCursor === null ? null : String(nextCursor) };
}

type EndpointTag = 'wallets' | 'funding' | 'tokens' | 'chain' | 'queries';

export interface Endpoint {
  method: 'GET' | 'POST';
  path: `/api/${string}`;
  /** The group in the OpenAPI document. */
  tag: EndpointTag;
  summary: string;
  /** The query parameters of a GET as text, the JSON body of a POST. */
  params: z.ZodObject;
  response: z.ZodObject;
  example: { params: object; response: object };
  /** Whether the limits of its parameters depend on the key's tier. */
  tierLimited?: boolean;
  /** Whether it answers 404 for what the index does not have. */
  findsNothing?: boolean;
  /**
   * Asks the node for data that the index lacks, before the answer is read from the index; undefined if this request
   * does not need the node.
   */
  askNode?: (input: unknown, node: NodeReads, head: Head) => Promise<NodeAnswer> | undefined;
  /** Adds to the JSON of an answer what the node knows of it. */
  complete?: (input: unknown, answer: Record<string, unknown>, node: NodeReads) => Promise<void>;
  /** A parameter without which the node need not be asked, because parsing the input twice costs microseconds. */
  nodeParameter?: string;
  /** Writes the answer as CSV, if it is a list. */
  toCsv?: (answer: object) => string;
  prepare(source: EndpointSource): EndpointHandler;
}

/** An endpoint with its own types, from which the browser pages derive theirs. */
interface TypedEndpoint<Path extends Endpoint['path'], P extends z.ZodObject, R extends z.ZodObject>
  extends Endpoint {
  path: Path;
  params: P;
  response: R;
}

/** The JSON of an endpoint's answer. */
export type AnswerOf<E extends Endpoint> = z.output<E['response']>;

/** Fields of every answer. */
const COVERAGE = { historicalCoverageStartBlock: z.int().min(0).describe('First indexed block') };

/** The parameter of every list. */
const FORMAT = {
  format: z
    .enum(['json', 'csv'], { error: 'must be json or csv' })
    .default('json')
    .describe('csv: only the list, with a header line; X-Next-Cursor has the cursor of the next page'),
};

/** The schema name of an answer in the OpenAPI document, such as `WalletSummary` for `/api/wallet_summary`. */
function answerName(path: Endpoint['path']): string {
  return path.slice('/api'.length).replace(/[/_](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Defines an endpoint: validates its input and adds `historicalCoverageStartBlock` to its answers. */
export function defineEndpoint<
  const Path extends Endpoint['path'],
  P extends z.ZodRawShape,
  R extends z.ZodRawShape,
>(definition: {
  method: 'GET' | 'POST';
  path: Path;
  tag: EndpointTag;
  /** The field of the answer that is a list, also offered as CSV. */
  list?: keyof R & string;
  summary: string;
  params: P;
  response: R;
  example: { params: z.input<z.ZodObject<P>>; response: z.output<z.ZodObject<R>> };
  tierLimited?: boolean;
  findsNothing?: boolean;
  askNode?: (
    params: z.output<z.ZodObject<P>>,
    node: NodeReads,
    head: Head,
  ) => Promise<NodeAnswer> | undefined;
  complete?: (
    params: z.output<z.ZodObject<P>>,
    answer: Record<string, unknown>,
    node: NodeReads,
  ) => Promise<void>;
  nodeParameter?: string;
  prepare(
    source: EndpointSource,
  ): (params: z.output<z.ZodObject<P>>, context: RequestContext) => z.output<z.ZodObject<R>>;
}): TypedEndpoint<Path, z.ZodObject<P>, z.ZodObject<R & typeof COVERAGE>> {
  const { list, method } = definition;
  const params = z.object({
    ...definition.params,
    ...(list !== undefined && FORMAT),
    ...(method === 'GET' && SEEN_PARAMETER),
  });
  const parse = inputParser(params, definition.method === 'GET' ? 'invalid_parameter' : 'invalid_body');
  const { askNode, complete, list: _, ...rest } = definition;
  const response = z
    .object({ ...definition.response, ...COVERAGE })
    .meta({ id: answerName(definition.path) });
  const plan = addressPlan(response);
  return {
    ...rest,
    ...(list !== undefined && { toCsv: csvWriter(response, list) }),
    ...(askNode && { askNode: (input, node, head) => askNode(parse(input), node, head) }),
    ...(complete && { complete: (input, answer, node) => complete(parse(input), answer, node) }),
    params,
    response,
    prepare(source) {
      const handler = definition.prepare(source);
      const { labels } = source;
      const requireSeen = prepareRequireSeen(source.db, source.maxReorg);
      return (input, context) => {
        const parsed = parse(input);
        if (isObject(input) && typeof input.seen === 'string') {
          requireSeen(parseSeen(input.seen), context.head, 'seen');
        }
        const answer: object & { historicalCoverageStartBlock?: number } = handler(parsed, context);
        answer.historicalCoverageStartBlock = context.head.startBlock;
        if (labels !== undefined && plan !== null && !labels.isEmpty) addLabels(answer, plan, labels);
        return answer;
      };
    },
  };
}
