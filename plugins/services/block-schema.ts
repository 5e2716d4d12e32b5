// Builds the schema of a service's block from the options in its template.
import { z } from 'zod';
import type { OptionFact, ServiceTemplate, ServiceTemplates } from './contract.ts';

/** Has no defaults and no required keys: an editor would write the former, and refuse to save without the latter. */
export function blockSchemaOf(template: ServiceTemplate, templates: ServiceTemplates): z.ZodType {
  const options = Object.keys(template.block).flatMap(key => {
    const fact = templates.option(template, key);
    return fact === undefined ? [] : [[key, optionalSchemaOf(fact)] as const];
  });
  return z.looseObject(Object.fromEntries(options));
}

/** The schema of the options that the block of every service may have. */
export function sharedBlockSchema(options: Readonly<Record<string, OptionFact>>): z.ZodType {
  const everywhere = Object.entries(options).filter(([, fact]) => fact.everywhere);
  return z.looseObject(Object.fromEntries(everywhere.map(([key, fact]) => [key, optionalSchemaOf(fact)])));
}

/** Schemas by the facts of an option, because many services share these. */
const known = new WeakMap<OptionFact, z.ZodType>();

function optionalSchemaOf(fact: OptionFact): z.ZodType {
  const schema = known.get(fact) ?? schemaOf(fact).optional();
  known.set(fact, schema);
  return schema;
}

function schemaOf(fact: OptionFact): z.ZodType {
  const types = Array.isArray(fact.type) ? fact.type : [fact.type];
  const [first = z.unknown(), ...others] = types.map(type => schemaOfType(type, fact));
  const schema = others.length === 0 ? first : z.union([first, ...others]);
  const { help, secret, live } = fact;
  // Registered instead of set by `meta`, which would make one more copy of each option's schema at each start.
  return schema.register(z.globalRegistry, {
    ...(help === undefined ? {} : { description: help }),
    ...(secret === undefined ? {} : { secret }),
    // Options that act at once are read by the host alone, so the service does the same work without them.
    ...(live === undefined ? {} : { live, fallback: live }),
  });
}

function schemaOfType(type: OptionFact['type'], { values, items, minimum, pattern }: Partial<OptionFact>): z.ZodType {
  switch (type) {
    case 'boolean':
      return z.boolean();
    case 'integer':
      return z.int().min(minimum ?? Number.MIN_SAFE_INTEGER);
    case 'number':
      return z.number().min(minimum ?? -Number.MAX_VALUE);
    case 'array':
      return z.array(items === undefined ? z.unknown() : schemaOfType(items, {}));
    case 'object':
      return z.looseObject({});
    default:
      if (values !== undefined) return z.enum(['', ...values]);
      return pattern === undefined ? z.string() : z.string().regex(new RegExp(pattern));
  }
}
