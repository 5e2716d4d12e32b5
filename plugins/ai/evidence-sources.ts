// The assistant's own sources of evidence; further ones come from other plugins. The code of a source is loaded when
// the first diagnosis asks for it.
import type { Host } from '#core';
import { turnWithTime } from '#kit/turns';
import type { Evidence, EvidenceRequest, EvidenceSource } from './contract.ts';
import type { ChangeLedger } from './ledger/change-ledger.ts';

interface Source extends Omit<EvidenceSource, 'collect'> {
  collect(host: Host, request: EvidenceRequest, ledger: ChangeLedger): Promise<Evidence | undefined>;
}

const LOGS_MS = 40_000;
/** After the analysis of logs. */
const NATIVE_STAGE = 1;
/** Documentation is chosen by other evidence, so it comes after the sources of that. */
const FOUND_STAGE = 5;
/** After every other source. */
const LAST_STAGE = 9;

/**
 * Sources that were loaded at the same time begin one after the other, so that together they do not block the event
 * loop.
 */
async function inTurn<Module>(loading: Promise<Module>): Promise<Module> {
  const loaded = await loading;
  await turnWithTime();
  return loaded;
}

/** The sources, by their member of the bundle. */
const SOURCES: Readonly<Record<string, Source>> = {
  service_status: {
    coverage: { service: {} },
    collect: async (host, request) =>
      (await inTurn(import('./evidence/process-evidence.ts'))).collectStatus(host, request),
  },
  stack_summary: {
    coverage: { stack: {} },
    collect: async (host, request) =>
      (await inTurn(import('./evidence/process-evidence.ts'))).collectSummary(host, request),
  },
  processes: {
    coverage: { service: {}, stack: { processes: 0 } },
    switches: ['process_list'],
    collect: async (host, request) =>
      (await inTurn(import('./evidence/process-evidence.ts'))).collectProcesses(host, request),
  },
  service_config: {
    coverage: { service: { config: false }, stack: {} },
    switches: ['service_config'],
    collect: async (host, request) =>
      (await inTurn(import('./evidence/config-evidence.ts'))).collectConfig(host, request),
  },
  dependency_graph: {
    coverage: { service: { dependency_graph: false }, stack: { dependency_graph: false } },
    switches: ['dependency_graph'],
    collect: async (host, request) =>
      (await inTurn(import('./evidence/graph-evidence.ts'))).collectGraph(host, request),
  },
  logs: {
    coverage: { service: {}, stack: {} },
    switches: ['logs'],
    deadlineMs: LOGS_MS,
    collect: async (host, request) => (await inTurn(import('./logs/log-evidence.ts'))).collectTails(host, request),
  },
  log_analysis: {
    coverage: { service: { retained_logs: false }, stack: { retained_log_services: 0 } },
    switches: ['logs', 'deep_log_scan'],
    deadlineMs: LOGS_MS,
    collect: async (host, request) => (await inTurn(import('./logs/log-evidence.ts'))).collectAnalysis(host, request),
  },
  runtime_metrics: {
    coverage: { service: { metrics_history: false }, stack: { metrics_history: false } },
    switches: ['metrics'],
    collect: async (host, request) =>
      (await inTurn(import('./evidence/usage-evidence.ts'))).collectUsage(host, request),
  },
  database_health: {
    coverage: { service: { database_health: false } },
    switches: ['metrics'],
    collect: async (host, request) =>
      (await inTurn(import('./evidence/database-evidence.ts'))).collectDatabaseHealth(host, request),
  },
  native_diagnostics: {
    coverage: { service: { native_collector: false }, stack: { native_collectors: 0 } },
    switches: ['native_diagnostics'],
    stage: NATIVE_STAGE,
    collect: async (host, request) =>
      (await inTurn(import('./evidence/native-evidence.ts'))).collectNative(host, request),
  },
  change_history: {
    coverage: { service: { change_history: false }, stack: { change_history: false } },
    switches: ['change_history'],
    collect: async (_host, request, ledger) =>
      (await inTurn(import('./ledger/change-evidence.ts'))).collectChanges(ledger, request),
  },
  docs_context: {
    coverage: { service: { docs: false }, stack: { docs: false } },
    switches: ['docs_context'],
    stage: FOUND_STAGE,
    collect: async (host, request) => (await inTurn(import('./evidence/docs-evidence.ts'))).collectDocs(host, request),
  },
  recommendations: {
    coverage: { service: {}, stack: {} },
    stage: LAST_STAGE,
    collect: async (host, request) =>
      (await inTurn(import('./findings/recommendations.ts'))).collectRecommendations(host, request),
  },
};

export function contributeSources(host: Host, ledger: ChangeLedger): void {
  for (const [key, source] of Object.entries(SOURCES))
    host.contribute('ai.evidence', key, { ...source, collect: request => source.collect(host, request, ledger) });
}
