// Requests and answers of diagnoses, as clients send and see them.
import { z } from 'zod';
import type { ContributionList } from '#core';
import { bodyOf, givenBoolean, givenNumber } from '../body-values.ts';
import type { AiPreset, Comparison, DiagnosisScope, EvidenceSwitch } from '../contract.ts';
import { clamped, RANGES } from '../providers/provider-record.ts';
import { usageAnswer } from '../providers/provider-wire.ts';
import { presetsOf } from '../settings/presets.ts';
import { type AiSettings, comparisonOf } from '../settings/settings.ts';

/** Presets whose diagnosis begins at the newest change. */
const SINCE_CHANGE = new Set(['since_change', 'stack_changes']);
const STACK_LOG_CHARS = { min: 500, max: 50_000, isWhole: true };
const STACK_LOG_SHARE = 4;
const STACK_SERVICE_LOG_CHARS = { min: 500, max: 8_000, isWhole: true };
const STACK_SERVICES = { min: 5, max: 120, isWhole: true };
const DEFAULT_SERVICES = 60;

const flag = givenBoolean().optional();
const count = givenNumber().optional();

const shared = {
  question: z.string().optional(),
  preset: z.string().optional(),
  dry_run: flag,
  include_logs: flag,
  include_service_config: flag,
  include_dependency_graph: flag,
  include_docs_context: flag,
  include_metrics: flag,
  include_change_history: flag,
  include_native_diagnostics: flag,
  include_process_list: flag,
  deep_log_scan: flag,
  max_log_chars: count,
  max_docs_chars: count,
  max_log_scan_mb: count,
  window_hours: count,
  comparison: z.string().optional(),
};

export const serviceBody = bodyOf({ process_name: z.string(), ...shared });
export const stackBody = bodyOf({ ...shared, max_services: count }, ['process_name']);
export const followUpBody = bodyOf({ session_id: z.string(), question: z.string() });

const answered = { analysis: z.string(), usage: usageAnswer, provider: z.string(), model: z.string() };

export const diagnosisAnswer = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    ...answered,
    bundle: z.record(z.string(), z.unknown()),
    dry_run: z.boolean(),
    session_id: z.string(),
  }),
);
export const followUpAnswer = z.object({ ...answered, session_id: z.string() });

type SharedBody = z.output<typeof stackBody>;

/** The member of requests and settings that holds each switch. */
const SWITCH_MEMBERS = {
  logs: 'include_logs',
  service_config: 'include_service_config',
  dependency_graph: 'include_dependency_graph',
  docs_context: 'include_docs_context',
  metrics: 'include_metrics',
  change_history: 'include_change_history',
  native_diagnostics: 'include_native_diagnostics',
  process_list: 'include_process_list',
  deep_log_scan: 'deep_log_scan',
} as const satisfies Record<EvidenceSwitch, keyof SharedBody>;
/** For a stack these count in place of the settings. */
const USUAL_OF_STACK = { include_service_config: false, include_process_list: true };

export interface DiagnosisRequest {
  readonly scope: DiagnosisScope;
  /** Empty for a stack. */
  readonly processName: string;
  /** The question that was asked, or else that of the preset. */
  readonly question: string;
  /** Empty when none was chosen. */
  readonly preset: string;
  readonly isDryRun: boolean;
  readonly switches: ReadonlySet<EvidenceSwitch>;
  readonly comparison: Comparison;
  readonly hours: number;
  readonly maxLogChars: number;
  readonly maxLogScanMb: number;
  readonly maxDocsChars: number;
  readonly maxServices: number;
}

/** The request of a client, with the settings for everything that it leaves out. The number 0 counts as left out. */
export function diagnosisRequest(
  scope: DiagnosisScope,
  { process_name: processName = '', ...body }: SharedBody & { readonly process_name?: string },
  { settings: { evidence }, presets }: { readonly settings: AiSettings; readonly presets: ContributionList<AiPreset> },
): DiagnosisRequest {
  const { preset = '' } = body;
  const known = presetsOf(presets)[scope].find(({ id }) => id === preset);
  const comparison = body.comparison ?? (SINCE_CHANGE.has(preset) ? 'since_change' : evidence.comparison_mode);
  const isStack = scope === 'stack';
  const usual = isStack ? { ...evidence, ...USUAL_OF_STACK } : evidence;
  const switches = (Object.keys(SWITCH_MEMBERS) as EvidenceSwitch[]).filter(name => {
    const member = SWITCH_MEMBERS[name];
    return body[member] ?? usual[member];
  });
  const logChars = body.max_log_chars || evidence.max_log_chars;
  return {
    scope,
    processName: processName.trim(),
    question: body.question?.trim() || (known?.question ?? ''),
    preset,
    isDryRun: body.dry_run ?? false,
    switches: new Set(switches),
    comparison: comparisonOf(comparison),
    hours: clamped(body.window_hours || evidence.diagnostic_window_hours, RANGES.diagnostic_window_hours),
    maxLogChars: isStack
      ? clamped(clamped(logChars, STACK_LOG_CHARS) / STACK_LOG_SHARE, STACK_SERVICE_LOG_CHARS)
      : clamped(logChars, RANGES.max_log_chars),
    maxLogScanMb: clamped(body.max_log_scan_mb || evidence.max_log_scan_mb, RANGES.max_log_scan_mb),
    maxDocsChars: clamped(body.max_docs_chars || evidence.max_docs_chars, RANGES.max_docs_chars),
    maxServices: clamped(body.max_services || DEFAULT_SERVICES, STACK_SERVICES),
  };
}
