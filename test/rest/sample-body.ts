interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Schema> };
}

export interface OpenApiOperation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const MAX_DEPTH = 5;

/** A body of the right shape with `text` wherever the schema takes text, in keys of free-form objects too. */
export function sampleBody(document: OpenApi, schema: Schema, text: string, depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  const sampled = (inner: Schema) => sampleBody(document, inner, text, depth + 1);
  if (schema.$ref) return sampled(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.find(({ type }) => type !== 'null');
  if (choice) return sampled(choice);
  if (schema.enum) return schema.enum[0];
  switch ([schema.type].flat().find((type) => type !== 'null')) {
    case 'array':
      return [sampled(schema.items ?? {})];
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 1;
    case 'string':
      return text;
    default: {
      const fields = Object.entries(schema.properties ?? { [text]: { type: 'string' } });
      return Object.fromEntries(fields.map(([name, inner]) => [name, sampled(inner)]));
    }
  }
}
