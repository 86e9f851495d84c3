/** JSON Schemas of zod schemas. Those with an `id` become named components of the document they are in. */
import { z } from 'zod';
import { addressMembers } from '../address-labels.ts';

export type JsonSchema = Record<string, unknown>;

/** By their names in `components.schemas`. */
export type Schemas = Record<string, JsonSchema>;

interface SchemaOptions {
  io?: 'input' | 'output';
  target?: 'draft-2020-12' | 'draft-7';
}

/** The schema, in which records with an `id` are references. Adds these to `records`. */
export function namedSchema(schema: z.ZodType, records: Schemas, options: SchemaOptions = {}): JsonSchema {
  const { $defs, definitions, ...rest } = referToComponents(jsonSchema(schema, options));
  Object.assign(records, $defs, definitions);
  return rest;
}

/** The schema with references into its own definitions turned into references to the document's components. */
function referToComponents<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? String(value).replace(/^#\/(\$defs|definitions)\//, '#/components/schemas/') : value,
  );
}

/** Objects of answers stay open: they may gain fields. */
export function jsonSchema(
  schema: z.ZodType,
  { io = 'output', target = 'draft-2020-12' }: SchemaOptions,
): JsonSchema & { $defs?: object; definitions?: object } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target,
    override({ zodSchema, jsonSchema }) {
      if (io === 'output' && zodSchema instanceof z.ZodObject) describeLabels(zodSchema, jsonSchema);
      delete jsonSchema.id; // it names the component
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json;
}

/** Adds the member with the label of each address. */
function describeLabels(schema: z.ZodObject, { properties = {} }: z.core.JSONSchema.BaseSchema): void {
  for (const member of addressMembers(schema)) {
    properties[`${member}Label`] = { $ref: '#/components/schemas/Label' };
  }
}
