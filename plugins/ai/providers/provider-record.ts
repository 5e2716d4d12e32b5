// The provider to ask, and how: the members that the settings and each profile share.
import { z } from 'zod';
import { Problem } from '#core';

const MAX_KEY_LENGTH = 4_096;

interface Range {
  readonly min: number;
  readonly max: number;
  /** Whether fractions are dropped. */
  readonly isWhole?: boolean;
}

/** The range of every number of the settings. */
export const RANGES = {
  timeout_sec: { min: 5, max: 300, isWhole: true },
  temperature: { min: 0, max: 2 },
  max_log_chars: { min: 1_000, max: 200_000, isWhole: true },
  max_docs_chars: { min: 1_000, max: 60_000, isWhole: true },
  diagnostic_window_hours: { min: 0.25, max: 720 },
  max_log_scan_mb: { min: 1, max: 1_024, isWhole: true },
} as const satisfies Record<string, Range>;

export function clamped(value: number, { min, max, isWhole = false }: Range): number {
  return Math.min(max, Math.max(min, isWhole ? Math.floor(value) : value));
}

/** Values outside the range are clamped when they are read, so the schema only documents the range. */
export function number(name: keyof typeof RANGES, value: number, description: string) {
  const { min: minimum, max: maximum } = RANGES[name];
  return z.number().default(value).meta({ minimum, maximum, description });
}

export const providerFields = {
  provider: z.string().default('ollama').describe('the kind of service that is asked'),
  base_url: z.string().default('http://127.0.0.1:11434').describe('where it is; managed services have their own'),
  model: z.string().default('').describe('which of its models answers'),
  api_key: z.string().default('').meta({ writeOnly: true, description: 'its key' }),
  api_key_origin: z.string().default('').meta({ writeOnly: true, description: 'where the key may be sent' }),
  timeout_sec: number('timeout_sec', 60, 'seconds that an answer may take'),
  temperature: number('temperature', 0.2, 'how much answers vary'),
  provider_options: z.record(z.string(), z.unknown()).default({}).describe('options of this kind of service'),
};

/** The provider to ask, and how. */
export type ProviderRecord = z.output<z.ZodObject<typeof providerFields>>;

export const PROVIDER_FIELDS = Object.keys(providerFields) as (keyof ProviderRecord)[];
export const DEFAULT_RECORD: ProviderRecord = z.object(providerFields).parse({});

/** The key without blanks around it. Throws a Problem 400 for one that cannot be sent in a header. */
export function checkKey(text: string): string {
  const key = text.trim();
  if (/\p{Cc}/u.test(key)) throw new Problem(400, 'api_key has control characters');
  if (/[^\x20-\xff]/.test(key))
    throw new Problem(
      400,
      'api_key has signs that no key has, such as an ellipsis or a zero-width space; copy the key again',
    );
  if (key.length > MAX_KEY_LENGTH) throw new Problem(400, `api_key is longer than ${MAX_KEY_LENGTH} characters`);
  return key;
}
