// The answers about providers, as clients see them.
import { z } from 'zod';
import type { ProviderCalls } from './provider-calls.ts';
import type { Providers } from './providers.ts';

export const providersAnswer = z.lazy(() =>
  z.object({
    providers: z.array(
      z.object({
        value: z.string(),
        aliases: z.array(z.string()),
        tokens: z.array(z.string()),
        label: z.string(),
        endpoint_mode: z.enum(['managed', 'custom']),
        base_url: z.string(),
        key: z.enum(['required', 'optional', 'none']),
        temperature: z.boolean(),
        locality: z.enum(['local', 'external', 'mixed']),
        model_discovery: z.boolean(),
        options_schema: z.record(z.string(), z.unknown()),
        available: z.boolean(),
        reason: z.string(),
      }),
    ),
  }),
);

export const usageAnswer = z.lazy(() => z.record(z.string(), z.union([z.number(), z.string()])));
export const testAnswer = z.lazy(() =>
  z.object({
    ok: z.literal(true),
    provider: z.string(),
    model: z.string(),
    response: z.string(),
    usage: usageAnswer,
  }),
);
export const modelsAnswer = z.lazy(() =>
  z.object({ provider: z.string(), models: z.array(z.looseObject({ name: z.string() })) }),
);

export function providersToWire(providers: Providers, calls: ProviderCalls): z.input<typeof providersAnswer> {
  const loaded = providers.loaded().map(found => {
    const {
      value,
      aliases = [],
      tokens = [],
      label,
      endpoint,
      key,
      temperature,
      locality,
      optionsSchema,
    } = found.descriptor;
    return {
      value,
      aliases: [...aliases],
      tokens: [...tokens],
      label,
      endpoint_mode: endpoint.mode,
      base_url: endpoint.mode === 'managed' ? endpoint.url : (endpoint.defaultUrl ?? ''),
      key,
      temperature,
      locality,
      model_discovery: calls.hasModels(found),
      options_schema: { ...optionsSchema },
      available: true,
      reason: '',
    };
  });
  const others = providers
    .unavailable()
    .map(({ value, reason }) => ({ ...NOTHING_KNOWN, value, aliases: [], tokens: [], label: value, reason }));
  return { providers: [...loaded, ...others] };
}

const NOTHING_KNOWN = {
  endpoint_mode: 'custom',
  base_url: '',
  key: 'optional',
  temperature: false,
  locality: 'mixed',
  model_discovery: false,
  options_schema: {},
  available: false,
} as const;
