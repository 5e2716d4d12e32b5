// The routes of diagnoses, which change no service and no configuration.
import type { ContributionList, Host } from '#core';
import { AI_BODY_LIMIT_BYTES } from '../body-values.ts';
import type { AiPreset, EvidenceSource, EvidenceSwitch } from '../contract.ts';
import type { SettingsStore } from '../settings/settings-store.ts';
import {
  diagnosisAnswer,
  diagnosisRequest,
  followUpAnswer,
  followUpBody,
  serviceBody,
  stackBody,
} from './diagnose-wire.ts';
import type { Diagnoses } from './diagnoses.ts';

/** Capability flags that are on when a source of evidence has the switch beside them. */
const EVIDENCE_FLAGS: readonly (readonly [flag: string, name: EvidenceSwitch])[] = [
  ['ai_deep_log_scan', 'deep_log_scan'],
  ['ai_native_diagnostics', 'native_diagnostics'],
  ['ai_change_history', 'change_history'],
];

export interface DiagnoseRouteParts {
  readonly store: SettingsStore;
  /** Loads the diagnoses on the first request. */
  readonly diagnoses: () => Promise<Diagnoses>;
  readonly sources: ContributionList<EvidenceSource>;
  readonly presets: ContributionList<AiPreset>;
}

export function registerDiagnoseRoutes(host: Host, { store, diagnoses, sources, presets }: DiagnoseRouteParts): void {
  const capability = ['ai_diagnostics', 'ai_diagnostic_evidence'];
  const bodyLimitBytes = AI_BODY_LIMIT_BYTES;

  host.route({
    method: 'POST',
    path: '/ai/diagnose',
    summary: 'What happened to a service, and what a model says of it',
    capability,
    bodyLimitBytes,
    body: serviceBody,
    response: diagnosisAnswer,
    compress: true,
    async handle({ body, identity, signal }) {
      const request = diagnosisRequest('service', body, { settings: store.read(), presets });
      return (await diagnoses()).run(request, { user: identity.username, signal });
    },
  });
  host.route({
    method: 'POST',
    path: '/ai/diagnose-stack',
    summary: 'What happened to the whole stack, and what a model says of it',
    capability,
    bodyLimitBytes,
    body: stackBody,
    response: diagnosisAnswer,
    compress: true,
    async handle({ body, identity, signal }) {
      const request = diagnosisRequest('stack', body, { settings: store.read(), presets });
      return (await diagnoses()).run(request, { user: identity.username, signal });
    },
  });
  host.route({
    method: 'POST',
    path: '/ai/follow-up',
    summary: 'Asks further about an analysis, which looks at nothing anew',
    capability: 'ai_diagnostic_sessions',
    bodyLimitBytes,
    body: followUpBody,
    response: followUpAnswer,
    async handle({ body, identity, signal }) {
      return (await diagnoses()).askFurther(body, { user: identity.username, signal });
    },
  });
  for (const [flag, name] of EVIDENCE_FLAGS)
    host.capability(flag, () => [...sources.values()].some(({ switches }) => switches?.includes(name) === true));
}
