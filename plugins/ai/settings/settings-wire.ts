// The settings as clients send and see them: without keys.
import { z } from 'zod';
import { bodyOf, givenBoolean, givenNumber } from '../body-values.ts';
import type { Models } from '../providers/models.ts';
import { clamped, type ProviderRecord, RANGES } from '../providers/provider-record.ts';
import type { Providers } from '../providers/providers.ts';
import { shownUrl } from '../providers/target-url.ts';
import { type AiSettings, type ProfileRecord, SWITCHES } from './settings.ts';

/** Members of answers that a client may send back; they have no effect. */
const READ_ONLY = [
  'profiles',
  'api_key_configured',
  'model_lifecycle',
  'model_compatibility',
  'provider_token',
  'overridden',
  'warnings',
];

const text = z.string();
const ranged = (name: keyof typeof RANGES) => givenNumber().transform(value => clamped(value, RANGES[name]));

const givenFields = {
  provider: text.optional(),
  base_url: text.optional(),
  model: text.optional(),
  api_key: text.optional(),
  timeout_sec: ranged('timeout_sec').optional(),
  temperature: ranged('temperature').optional(),
  provider_options: z.record(z.string(), z.unknown()).optional(),
};

const evidenceFields = {
  ...(Object.fromEntries(SWITCHES.map(name => [name, givenBoolean().optional()])) as Record<
    (typeof SWITCHES)[number],
    z.ZodOptional<ReturnType<typeof givenBoolean>>
  >),
  max_log_chars: ranged('max_log_chars').optional(),
  max_docs_chars: ranged('max_docs_chars').optional(),
  diagnostic_window_hours: ranged('diagnostic_window_hours').optional(),
  comparison_mode: text.optional(),
  max_log_scan_mb: ranged('max_log_scan_mb').optional(),
};

export const settingsBody = bodyOf(
  { enabled: givenBoolean().optional(), ...givenFields, ...evidenceFields, active_profile_id: text.optional() },
  READ_ONLY,
);
export const profileBody = bodyOf({ id: text.optional(), name: text, ...givenFields, provider: text }, READ_ONLY);
/** The body of tests and of lists of models. Its members replace the settings for this one call. */
export const callBody = bodyOf(
  {
    ...givenFields,
    prompt: text.optional(),
    enabled: givenBoolean().optional(),
    ...evidenceFields,
    active_profile_id: text.optional(),
  },
  READ_ONLY,
);

export type SettingsChange = z.output<typeof settingsBody>;
export type ProfileChange = z.output<typeof profileBody>;
export type ProviderChange = z.output<z.ZodObject<typeof givenFields>>;

const facts = z.lazy(() => z.record(z.string(), z.unknown()).nullable());

const publicRecord = {
  provider: z.string(),
  base_url: z.string(),
  model: z.string(),
  timeout_sec: z.int(),
  temperature: z.number(),
  provider_options: z.record(z.string(), z.unknown()),
  provider_token: z.string(),
  api_key_configured: z.boolean(),
  model_lifecycle: facts,
  model_compatibility: facts,
};

export const settingsAnswer = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    ...publicRecord,
    ...(Object.fromEntries(SWITCHES.map(name => [name, z.boolean()])) as Record<
      (typeof SWITCHES)[number],
      z.ZodBoolean
    >),
    max_log_chars: z.int(),
    max_docs_chars: z.int(),
    diagnostic_window_hours: z.number(),
    comparison_mode: z.string(),
    max_log_scan_mb: z.int(),
    active_profile_id: z.string(),
    profiles: z.array(z.object({ id: z.string(), name: z.string(), ...publicRecord })),
  }),
);

/** The settings in force after a save, which may differ from the saved ones. */
export const savedAnswer = z.lazy(() =>
  settingsAnswer.unwrap().extend({
    overridden: z.array(z.string()).describe('paths that were saved, and that the environment overrides'),
    warnings: z.array(z.string()),
  }),
);

export interface WireParts {
  readonly providers: Providers;
  readonly models: Models;
}

export function settingsToWire(settings: AiSettings, parts: WireParts): z.input<typeof settingsAnswer> {
  const { enabled, record, evidence, activeProfileId, profiles } = settings;
  return {
    enabled,
    ...recordToWire(record, parts),
    ...evidence,
    active_profile_id: activeProfileId,
    profiles: profiles.map((profile: ProfileRecord) => ({
      id: profile.id,
      name: profile.name,
      ...recordToWire(profile, parts),
    })),
  };
}

function recordToWire(record: ProviderRecord, { providers, models }: WireParts) {
  const found = providers.find(record.provider);
  const { provider, base_url: url, model, timeout_sec, temperature, provider_options } = record;
  return {
    provider,
    base_url: found === undefined ? url : shownUrl(found.descriptor, url),
    model,
    timeout_sec,
    temperature,
    provider_options,
    provider_token: found?.token ?? provider,
    api_key_configured: record.api_key !== '',
    model_lifecycle: found === undefined ? null : members(models.lifecycleOf(found, model)),
    model_compatibility: found === undefined ? null : members(models.compatibilityOf(found, model)),
  };
}

function members(fact: object | null): Record<string, unknown> | null {
  return fact === null ? null : { ...fact };
}
