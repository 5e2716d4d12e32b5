// The assistant: answers the owner's questions from recorded evidence, with a model of the owner's choice.
import { definePlugin, type Host } from '#core';
import type {} from '../health/contract.ts';
import type {} from './contract.ts';
import { registerDiagnoseRoutes } from './conversation/diagnose-routes.ts';
import type { Diagnoses } from './conversation/diagnoses.ts';
import { contributeSources } from './evidence-sources.ts';
import { ChangeLedger } from './ledger/change-ledger.ts';
import { ChangeWatch } from './ledger/change-watch.ts';
import { evidencePoint, nativePoint, presetPoint } from './points.ts';
import { ChatCompletionsClient } from './providers/chat-completions.ts';
import { ModelSources } from './providers/model-source.ts';
import { Models } from './providers/models.ts';
import { ProviderCalls } from './providers/provider-calls.ts';
import { ProviderHttpClient } from './providers/provider-http.ts';
import { Providers } from './providers/providers.ts';
import { judgeTarget } from './providers/target-address.ts';
import { registerCallRoutes } from './settings/call-routes.ts';
import { checkSection, withProviders } from './settings/config-check.ts';
import { KeyBindings } from './settings/key-bindings.ts';
import { aiSection, SECTION_PATH } from './settings/settings.ts';
import { registerSettingsRoutes } from './settings/settings-routes.ts';
import { SettingsStore } from './settings/settings-store.ts';

const PLACE = SECTION_PATH.join('.');

export default definePlugin({
  name: 'ai',
  host: '^1',

  async setup(host) {
    host.contribute('config.schema', 'ai', {
      path: SECTION_PATH,
      schema: aiSection,
      jsonSchema: made => withProviders(made, providers),
    });
    const providers: Providers = new Providers(host);
    const sources = host.point('ai.evidence', evidencePoint);
    const presets = host.point('ai.preset', presetPoint);
    host.point('ai.native-collector', nativePoint);
    const ledger = new ChangeLedger(host);
    host.contribute('health.note', 'ai', {
      text: () => ledger.fault && `the last change is not kept for diagnoses: ${ledger.fault}`,
    });
    const changes = new ChangeWatch(host, ledger);
    contributeSources(host, ledger);
    const models = new Models();
    await models.load(host.paths.configDir, host.log);
    const bindings = new KeyBindings(host, providers);
    const store = new SettingsStore(host, { providers, bindings, changes });
    const http = new ProviderHttpClient(host, url => judgeTarget(url, ownPorts(host)));
    const completions = new ChatCompletionsClient(http, new ModelSources(host.paths.templatesDir));
    const calls = new ProviderCalls(host, { providers, models, http, completions });

    registerSettingsRoutes(host, { store, providers, models, calls, presets });
    registerCallRoutes(host, { store, calls });
    let opened: Promise<Diagnoses> | undefined;
    const diagnoses = () => {
      opened ??= import('./conversation/diagnoses.ts').then(
        ({ Diagnoses }) => new Diagnoses(host, { store, calls, ledger, sources }),
      );
      return opened;
    };
    registerDiagnoseRoutes(host, { store, diagnoses, sources, presets });
    host.tap('config.check', ({ before, after }) => {
      const [section, key] = SECTION_PATH;
      const of = (root: Readonly<Record<string, unknown>>) =>
        (root[section] as Record<string, unknown> | undefined)?.[key];
      checkSection(providers, of(before), of(after));
    });
    host.tap('config.changed', async ({ paths, persisted }) => {
      if (paths.some(changed => changed.startsWith(PLACE))) await bindings.adopt({ persist: persisted });
    });
    host.tap('host.ready', () => bindings.adopt({ persist: true }));
    return () => ledger.finish();
  },
});

/** Ports of the host's listeners and of the product's own blocks, whose web frontend leads back to the host. */
function ownPorts(host: Host): number[] {
  const blocks = host.use('config.store').blocks();
  const entries = blocks.filter(({ path }) => path[0] === 'dumb').map(({ block }) => Number(block.port));
  return [...host.use('http.entrance').ports(), ...entries];
}
