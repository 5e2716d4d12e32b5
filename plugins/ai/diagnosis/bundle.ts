// The bundle of a diagnosis: all its evidence, without secrets, within a limit of size.
import type { ContributionList, Host } from '#core';
import { turnWithTime } from '#kit/turns';
import { utcTime } from '#kit/utc-time';
import type { Comparison, DiagnosisScope, EvidenceSource, EvidenceSwitch } from '../contract.ts';
import type { ChangeLedger } from '../ledger/change-ledger.ts';
import { knownSecrets, redactText } from '../redaction/secret-text.ts';
import { secretsOf } from '../redaction/secret-value.ts';
import { cleanBundle } from './clean-bundle.ts';
import { evidenceWindow, windowToWire } from './evidence-window.ts';
import { gather } from './gathering.ts';
import { productFacts } from './product-facts.ts';
import { logTargets, serviceTarget, stackTargets } from './targets.ts';

const MAX_CHARS = 4 * 1024 * 1024;
const BYTES_PER_MB = 1024 * 1024;
/** The kinds of evidence that count for the confidence in a diagnosis of a stack. */
const STACK_EVIDENCE = [
  'retained_log_services',
  'metrics_history',
  'change_history',
  'native_collectors',
  'dependency_graph',
  'docs',
];
const SURE = { service: 5, stack: 4 };
const LIKELY = { service: 3, stack: 2 };

export interface BundleRequest {
  readonly scope: DiagnosisScope;
  /** Given for the scope `service` alone. */
  readonly processName?: string;
  readonly question: string;
  readonly preset: string;
  readonly comparison: Comparison;
  readonly hours: number;
  readonly switches: ReadonlySet<EvidenceSwitch>;
  readonly maxLogChars: number;
  readonly maxLogScanMb: number;
  readonly maxDocsChars: number;
  readonly maxServices: number;
  /** Aborts when the client no longer waits. */
  readonly signal: AbortSignal;
}

interface BundleSources {
  readonly ledger: ChangeLedger;
  readonly sources: ContributionList<EvidenceSource>;
}

/** Throws a Problem 404 when there is no such process. Rejects when the signal fires. */
export async function buildBundle(
  host: Host,
  { ledger, sources }: BundleSources,
  request: BundleRequest,
): Promise<Record<string, unknown>> {
  const { scope, processName = '', comparison, hours, preset } = request;
  const targets = scope === 'service' ? [serviceTarget(host, processName)] : stackTargets(host);
  const nowMs = Date.now();
  await turnWithTime();
  const known = knownSecrets(secretsOf(host.use('config.store').root()));
  const question = redactText(request.question, known);
  await turnWithTime();
  const window = await evidenceWindow(ledger, { hours, comparison, scope, targets, nowMs });
  const { members, coverage, recommendations } = await gather(host, sources, {
    scope,
    targets,
    logTargets: scope === 'service' ? targets : logTargets(targets, question),
    question,
    window,
    switches: request.switches,
    maxLogChars: request.maxLogChars,
    maxLogScanBytes: request.maxLogScanMb * BYTES_PER_MB,
    maxDocsChars: request.maxDocsChars,
    maxServices: request.maxServices,
    signal: request.signal,
  });
  const facts = await productFacts(host);
  const [target] = targets;
  const own =
    scope === 'service'
      ? {
          process_name: target?.processName,
          config_key: target?.configKey,
          instance_name: target?.instanceName ?? null,
          service_path: target?.path.join('.'),
        }
      : { scope, dumb_service_catalog: facts.catalog, dumb_workflow_rules: facts.workflowRules };
  return cleanBundle(
    {
      generated_at: utcTime(nowMs),
      dumb_product: facts.product,
      ...own,
      question,
      preset,
      diagnostic_window: windowToWire(window),
      ...members,
      recommendations: recommendations.map(recommendation => ({
        ...recommendation,
        restart_required: false,
        automatic_apply_supported: false,
      })),
      diagnostic_coverage: coverageToWire(scope, coverage),
    },
    { known, maxChars: MAX_CHARS },
  );
}

function coverageToWire(scope: DiagnosisScope, coverage: Readonly<Record<string, boolean | number>>) {
  const positive = Object.entries(coverage).filter(([name, value]) => {
    const counts = scope === 'stack' ? STACK_EVIDENCE.includes(name) : name !== 'status';
    return counts && Number(value) > 0;
  }).length;
  const confidence = positive >= SURE[scope] ? 'high' : positive >= LIKELY[scope] ? 'medium' : 'low';
  return { ...(scope === 'service' ? { status: true } : {}), ...coverage, confidence_hint: confidence };
}
