/** The OpenAPI document as a measure: whether an answer is one that it describes, with nothing undocumented in it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type OpenApiDocument, openApiDocument } from '../../src/api/openapi/openapi.ts';

export const document: OpenApiDocument = openApiDocument('0.0.0');

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  keywords: ['components'], // where references lead
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
});
const validators = new Map<string, ValidateFunction>();

/** Throws when `answer` is not what the document says of a good answer at `path` (`/api/...`). */
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

/** A schema whose objects may have no other properties than it names. The published one is open, for clients. */
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
