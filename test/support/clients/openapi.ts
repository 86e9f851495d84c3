/** Checks answers and messages against the published documents, without undocumented fields. */
import { Ajv } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type AsyncApiDocument, asyncApiDocument } from '../../../src/api/openapi/asyncapi.ts';
import { type OpenApiDocument, openApiDocument } from '../../../src/api/openapi/openapi.ts';

export const document: OpenApiDocument = openApiDocument('0.0.0');

export const asyncDocument: AsyncApiDocument = asyncApiDocument('0.0.0');

const OPTIONS = {
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  keywords: ['components'], // targets of references
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
};

const ajv = new Ajv2020(OPTIONS);
const validators = new Map<string, ValidateFunction>();

/** Throws when `answer` does not match the document's success schema for `path` (`/api/...`). */
export function checkAnswer(path: string, answer: unknown): void {
  const validate = validators.get(path) ?? compile(path);
  if (validate(answer)) return;
  throw new Error(`the answer of ${path} is not as documented: ${ajv.errorsText(validate.errors)}`);
}

function compile(path: string): ValidateFunction {
  const operation = document.paths[path]?.get ?? document.paths[path]?.post;
  if (operation === undefined) throw new Error(`${path} is not in the document`);
  const { schema } = operation.responses[200].content['application/json'];
  const validate = ajv.compile({ ...closed(schema), components: closed(document.components) });
  validators.set(path, validate);
  return validate;
}

let isNotification: ValidateFunction | undefined;

const EVENTS = ['newHead', 'log', 'syncing', 'pendingTransaction', 'walletTransfer', 'signal'];

/** Throws when a pushed message matches none in the AsyncAPI document. */
export function checkNotification(message: unknown): void {
  isNotification ??= new Ajv(OPTIONS).compile({
    anyOf: [...EVENTS, 'walletProgress', 'signalProgress'].map((name) =>
      closed(asyncDocument.components.messages[name]?.payload),
    ),
    components: closed(asyncDocument.components),
  });
  if (isNotification(message)) return;
  const faults = ajv.errorsText(isNotification.errors?.filter(({ keyword }) => keyword !== 'anyOf'));
  throw new Error(`${JSON.stringify(message)} is not as documented: ${faults}`);
}

let isHookMessage: ValidateFunction | undefined;

/** Throws when the body of a delivery does not match the OpenAPI document. */
export function checkHookMessage(body: unknown): void {
  isHookMessage ??= ajv.compile({
    $ref: '#/components/schemas/HookMessage',
    components: document.components,
  });
  if (!isHookMessage(body))
    throw new Error(`${JSON.stringify(body)} is not as documented: ${ajv.errorsText(isHookMessage.errors)}`);
}

/** A schema whose objects permit no other properties. The published schema is open, for clients. */
export function closed<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    isObject(value) && 'properties' in value && !('additionalProperties' in value)
      ? { ...value, additionalProperties: false }
      : value,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
