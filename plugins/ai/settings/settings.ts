// The section `dumb.ai`: which provider the assistant asks, and what a diagnosis looks at. Reading never fails; invalid
// values count as their defaults.
import { z } from 'zod';
import type { ConfigStore } from '#core';
import { isObject } from '#kit/plain-object';
import type { Comparison } from '../contract.ts';
import { clamped, number, type ProviderRecord, providerFields, RANGES } from '../providers/provider-record.ts';

export const SECTION_PATH = ['dumb', 'ai'] as const;
export const MAX_PROFILES = 20;

const profileFields = {
  id: z.string().min(1).meta({ identity: true, description: 'tells the profile from others' }),
  name: z.string().default('').describe('how it is shown'),
  ...providerFields,
};

export const SWITCHES = [
  'include_logs',
  'include_service_config',
  'include_dependency_graph',
  'include_docs_context',
  'include_metrics',
  'include_change_history',
  'include_native_diagnostics',
  'include_process_list',
  'deep_log_scan',
] as const;

const toggle = (value: boolean, description: string) => z.boolean().default(value).describe(description);

const evidenceFields = {
  max_log_chars: number('max_log_chars', 20_000, 'characters of the end of a log'),
  include_logs: toggle(true, 'whether logs are looked at'),
  include_service_config: toggle(true, 'whether the configuration of the service is looked at'),
  include_dependency_graph: toggle(true, 'whether dependencies are looked at'),
  include_docs_context: toggle(true, 'whether the documentation is looked at'),
  include_metrics: toggle(true, 'whether metrics are looked at'),
  include_change_history: toggle(true, 'whether earlier changes are looked at'),
  include_native_diagnostics: toggle(true, 'whether a service may be read in its own way'),
  include_process_list: toggle(false, 'whether all processes are listed'),
  deep_log_scan: toggle(true, 'whether older logs are searched'),
  max_docs_chars: number('max_docs_chars', 12_000, 'characters of documentation'),
  diagnostic_window_hours: number('diagnostic_window_hours', 24, 'hours that are looked at'),
  comparison_mode: z.string().default('previous_period').describe('previous_period, since_change or none'),
  max_log_scan_mb: number('max_log_scan_mb', 128, 'MiB of logs that are searched'),
};

export const aiSection = z.object({
  enabled: toggle(false, 'whether a model is asked'),
  ...providerFields,
  ...evidenceFields,
  active_profile_id: z.string().default('').describe('the profile in use; blank: none'),
  profiles: z.array(z.object(profileFields)).default([]).describe('saved providers'),
});

export type ProfileRecord = z.output<z.ZodObject<typeof profileFields>>;
type EvidenceSettings = Omit<z.output<z.ZodObject<typeof evidenceFields>>, 'comparison_mode'> & {
  readonly comparison_mode: Comparison;
};
export interface AiSettings {
  readonly enabled: boolean;
  /** The record in use: that of the active profile, or else that of the section itself. */
  readonly record: ProviderRecord;
  readonly evidence: EvidenceSettings;
  /** Empty unless a profile with this id is stored. */
  readonly activeProfileId: string;
  readonly profiles: readonly ProfileRecord[];
}

const NO_SECTION = {};
let last: { readonly section: unknown; readonly settings: AiSettings } | undefined;

/** The settings in force. The object never changes; a later change of the configuration makes a new one. */
export function readSettings(store: Pick<ConfigStore, 'get'>): AiSettings {
  const section = store.get(SECTION_PATH) ?? NO_SECTION;
  // Each change replaces the configuration as a whole, so the settings of one section object can be reused.
  if (section !== last?.section) last = { section, settings: settingsOf(isObject(section) ? section : NO_SECTION) };
  return last.settings;
}

function settingsOf(section: Readonly<Record<string, unknown>>): AiSettings {
  const ids = new Set<string>();
  const profiles = (Array.isArray(section.profiles) ? section.profiles : []).flatMap(entry => {
    if (!isObject(entry) || typeof entry.id !== 'string' || entry.id === '' || ids.has(entry.id)) return [];
    ids.add(entry.id);
    return [fieldsOf(profileFields, entry)];
  });
  const active = profiles.find(({ id }) => id === section.active_profile_id);
  const { id: _id, name: _name, ...saved } = active ?? { id: '', name: '', ...fieldsOf(providerFields, section) };
  const evidence = fieldsOf(evidenceFields, section);
  return {
    enabled: fieldsOf({ enabled: aiSection.shape.enabled }, section).enabled,
    record: saved,
    evidence: { ...evidence, comparison_mode: comparisonOf(evidence.comparison_mode) },
    activeProfileId: active?.id ?? '',
    profiles: profiles.slice(0, MAX_PROFILES),
  };
}

/** The members that the schemas name. Invalid ones get their defaults, and numbers are clamped to their ranges. */
function fieldsOf<Shape extends z.ZodRawShape>(shape: Shape, given: Readonly<Record<string, unknown>>) {
  const fields = Object.entries(shape).map(([key, schema]) => {
    const parsed = z.safeParse(schema, given[key]);
    const value = parsed.success ? parsed.data : z.parse(schema, undefined);
    return [key, typeof value === 'number' && isRanged(key) ? clamped(value, RANGES[key]) : value];
  });
  return Object.fromEntries(fields) as z.output<z.ZodObject<Shape>>;
}

function isRanged(key: string): key is keyof typeof RANGES {
  return Object.hasOwn(RANGES, key);
}

/** Reads a comparison; `off` is an earlier word for `none`. */
export function comparisonOf(text: string): Comparison {
  const word = text.trim().toLowerCase();
  if (word === 'none' || word === 'off') return 'none';
  return word === 'since_change' ? word : 'previous_period';
}
