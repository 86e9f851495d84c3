/** Converts zod schemas to JSON Schemas. A schema with an `id` becomes a named component of its document. */
import * as z from 'zod';
import { addressMembers } from '../address-labels.ts';

export type JsonSchema = Record<string, unknown>;

/** Schemas by their names in `components.schemas`. */
export type Schemas = Record<string, JsonSchema>;

interface SchemaOptions {
  io?: 'input' | 'output';
  target?: 'draft-2020-12' | 'draft-7';
}

/** The schema, with references to records that have an `id`. Adds these records to `records`. */
export function namedSchema(schema: z.ZodType, records: Schemas, options: SchemaOptions = {}): JsonSchema {
  const { $defs, definitions, ...rest } = referToComponents(jsonSchema(schema, options));
  Object.assign(records, $defs, definitions);
  return rest;
}

/** Turns references into the schema's own definitions into references to the document's components. */
function referToComponents<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? String(value).replace(/^#\/(\$defs|definitions)\//, '#/components/schemas/') : value,
  );
}

/** Answer objects stay open, because they may gain fields. */
export function jsonSchema(
  schema: z.ZodType,
  { io = 'output', target = 'draft-2020-12' }: SchemaOptions,
): JsonSchema & { $defs?: object; definitions?: object } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target,
    override({ zodSchema, jsonSchema }) {
      if (io === 'output' && zodSchema instanceof z.ZodObject) describeLabels(zodSchema, jsonSchema);
      delete jsonSchema.id; // already the component's name
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      if (io === 'output' && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json;
}

/** Adds the label fields of each address. */
function describeLabels(schema: z.ZodObject, { properties = {} }: z.core.JSONSchema.BaseSchema): void {
  for (const member of addressMembers(schema)) {
    properties[`${member}Label`] = { $ref: '#/components/schemas/Label' };
  }
}
