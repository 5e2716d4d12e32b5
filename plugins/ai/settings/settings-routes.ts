// The routes of settings, profiles, presets and providers.
import type { ContributionList, Host } from '#core';
import { AI_BODY_LIMIT_BYTES } from '../body-values.ts';
import type { AiPreset } from '../contract.ts';
import type { Models } from '../providers/models.ts';
import type { ProviderCalls } from '../providers/provider-calls.ts';
import { providersAnswer, providersToWire } from '../providers/provider-wire.ts';
import type { Providers } from '../providers/providers.ts';
import { presetsAnswer, presetsOf } from './presets.ts';
import type { SaveOutcome, SettingsStore } from './settings-store.ts';
import { profileBody, savedAnswer, settingsAnswer, settingsBody, settingsToWire } from './settings-wire.ts';

export interface SettingsRouteParts {
  readonly store: SettingsStore;
  readonly providers: Providers;
  readonly models: Models;
  readonly calls: ProviderCalls;
  readonly presets: ContributionList<AiPreset>;
}

export function registerSettingsRoutes(
  host: Host,
  { store, providers, models, calls, presets }: SettingsRouteParts,
): void {
  const shown = () => settingsToWire(store.read(), { providers, models });
  const saved = ({ overridden, warnings }: SaveOutcome) => ({
    ...shown(),
    overridden: [...overridden],
    warnings: [...warnings],
  });
  const profiles = 'ai_provider_profiles';
  const bodyLimitBytes = AI_BODY_LIMIT_BYTES;

  host.route({
    method: 'GET',
    path: '/ai/settings',
    summary: 'Whom the assistant asks and what it looks at, without keys',
    response: settingsAnswer,
    handle: shown,
  });
  host.route({
    method: 'PUT',
    path: '/ai/settings',
    summary: 'Saves settings; what is not sent stays, keys too',
    bodyLimitBytes,
    body: settingsBody,
    response: savedAnswer,
    async handle({ body, identity }) {
      return saved(await store.save(body, identity.username ?? 'api'));
    },
  });
  host.route({
    method: 'POST',
    path: '/ai/profiles',
    summary: 'Saves a profile, which is active then',
    capability: profiles,
    bodyLimitBytes,
    body: profileBody,
    response: savedAnswer,
    async handle({ body, identity }) {
      return saved(await store.saveProfile(body, identity.username ?? 'api'));
    },
  });
  host.route({
    method: 'POST',
    path: '/ai/profiles/{profile_id}/activate',
    summary: 'Makes a profile the one in use',
    capability: profiles,
    bodyLimitBytes,
    response: savedAnswer,
    async handle({ params, identity }) {
      return saved(await store.activate(params.profile_id ?? '', identity.username ?? 'api'));
    },
  });
  host.route({
    method: 'DELETE',
    path: '/ai/profiles/{profile_id}',
    summary: 'Removes a profile',
    capability: profiles,
    bodyLimitBytes,
    response: savedAnswer,
    async handle({ params, identity }) {
      return saved(await store.remove(params.profile_id ?? '', identity.username ?? 'api'));
    },
  });
  host.route({
    method: 'GET',
    path: '/ai/presets',
    summary: 'Questions that are asked often',
    response: presetsAnswer,
    handle: () => presetsOf(presets),
  });
  host.route({
    method: 'GET',
    path: '/ai/providers',
    summary: 'The kinds of services that can be asked',
    response: providersAnswer,
    handle: () => providersToWire(providers, calls),
  });
}
