/** Checks a client's input against a schema and names the first mistake. */
import { z } from 'zod';
import { RequestError } from '../errors.ts';

/** The error codes of schemas that have their own. */
export const errorCodes = z.registry<{ code: string }>();

/**
 * A function that reads input by the schema, or throws a RequestError 400 about the first fault. `code` is for schemas
 * without one in `errorCodes`. Schemas' messages are worded to follow the parameter's name.
 */
export function inputParser<S extends z.ZodObject>(schema: S, code: string): (input: unknown) => z.output<S> {
  return (input) => {
    const result = schema.safeParse(input);
    if (result.success) return result.data;
    throw validationError(schema, result.error.issues[0], code);
  };
}

function validationError(
  schema: z.ZodObject,
  issue: z.core.$ZodIssue | undefined,
  fallback: string,
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
  const [part, ...rest] = path;
  if (part === undefined) return schema;
  if (schema instanceof z.ZodObject) return schemaAt(schema.shape[String(part)], rest);
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, rest);
  return schema;
}
