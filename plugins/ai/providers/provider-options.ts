// Checks the options of a provider against the schema of its descriptor.
import { z } from 'zod';
import { Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { ProviderDescriptor } from '../contract.ts';

type Options = Readonly<Record<string, unknown>>;

const NO_OPTIONS = { type: 'object', additionalProperties: false };
const made = new WeakMap<object, z.ZodType>();

/** Throws a Problem 400 that names the first option that does not fit. */
export function checkOptions(descriptor: ProviderDescriptor, options: Options): Record<string, unknown> {
  const parsed = schemaOf(descriptor).safeParse(options);
  if (parsed.success) return { ...options };
  const [issue] = parsed.error.issues;
  const place = ['provider_options', ...(issue?.path ?? [])].join('.');
  throw new Problem(400, `${place}: ${issue?.message ?? 'it does not fit'}`);
}

/** The options if they fit the provider, else none, as those of another provider. */
export function fittingOptions(descriptor: ProviderDescriptor, options: Options): Record<string, unknown> {
  return schemaOf(descriptor).safeParse(options).success ? { ...options } : {};
}

/** Throws a Problem 502 when the schema of the descriptor is not valid. */
function schemaOf({ label, optionsSchema = NO_OPTIONS }: ProviderDescriptor): z.ZodType {
  const known = made.get(optionsSchema);
  if (known !== undefined) return known;
  try {
    const schema = z.fromJSONSchema(optionsSchema as Parameters<typeof z.fromJSONSchema>[0]);
    made.set(optionsSchema, schema);
    return schema;
  } catch (cause) {
    const text = `The plugin of ${label} describes its options so that they cannot be read: ${errorText(cause)}`;
    throw new Problem(502, `${text}; choose another provider`, { cause });
  }
}
