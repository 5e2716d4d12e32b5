// InfiniDysk: starts its two programs, configures its media managers, categories and mount, and registers it as a
// download client.
import path from 'node:path';
import { definePlugin, type NamedBlock } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type {} from '../ai/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../service-arr/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../services/mount-control.ts';
import type {} from '../setup/contract.ts';
import type {} from '../versions/contract.ts';
import { refuseUnknownOption } from './option-since.ts';
import { QUEUE_LINES } from './queue-lines.ts';
import { Settings } from './settings.ts';
import { PROGRAM, START_STEPS } from './start-steps.ts';
import { CATEGORIES, factsSchema, INSTANCES, wantedSettings } from './wanted.ts';

const KEY = 'infinidysk';
/** The stage in which the evidence of native collectors is available. */
const AFTER_NATIVE = 2;
type Entry = Readonly<Record<string, unknown>>;

export default definePlugin({
  name: 'service-infinidysk',
  host: '^1',
  needs: ['service-arr', 'integrations', 'services'],

  setup(host) {
    const templates = host.use('service.templates');
    const facts = factsSchema.parse(templates.get(KEY)?.facts ?? {});
    const { optionSince: since } = facts;
    const mountKinds = templates.list().flatMap(({ key, mounts, serves }) => (mounts && !serves ? [key] : []));
    host.contribute('arr.download-service', KEY, {
      configKey: KEY,
      libraryFolder: 'infinidysk-symlinks',
      async clients({ block: manager }, { block }) {
        const { backend_port: port, env } = block;
        const apiKey = ((env ?? {}) as Entry).FRONTEND_BACKEND_API_KEY;
        if (!Number.isInteger(port) || typeof apiKey !== 'string' || apiKey === '') return [];
        const category = host.use('arr.applications').slugOf(manager);
        return [{ name: 'InfiniDysk', implementation: 'Sabnzbd', fields: { port, urlBase: '', apiKey }, category }];
      },
    });
    host.contribute('ai.native-collector', KEY, {
      configKey: KEY,
      lines: QUEUE_LINES,
      async collect(request) {
        const user = host.use('process.supervisor').userOf(request.service);
        return (await import('./native-diagnostics.ts')).collectNative(request, user);
      },
    });
    host.contribute('ai.evidence', 'infinidysk_queue', {
      coverage: { service: {}, stack: {} },
      switches: ['native_diagnostics'],
      stage: AFTER_NATIVE,
      collect: async ({ scope, gathered }) =>
        (await import('./queue-windows.ts')).stallsOf(scope, gathered.native_diagnostics, KEY),
    });
    const versionOf = ({ processName }: NamedBlock) =>
      host
        .find('service.versions')
        ?.refresh(processName)
        .catch(() => null);
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan, block, isTemplates }) {
        if (since !== undefined && block.block[since.option] === true)
          refuseUnknownOption(block, await versionOf(block), since);
        const [, script = ''] = plan.argv;
        if (!isTemplates || plan.cwd === undefined || (await fileVersion(script)) !== null) return;
        if ((await fileVersion(path.join(plan.cwd, PROGRAM))) === null) return;
        plan.argv = ['/bin/sh', '-c', START_STEPS, KEY, plan.cwd];
      },
    });
    host.contribute('service.integration', 'infinidysk-settings', {
      targets: [KEY],
      providers: [...host.use('arr.applications').kinds, ...mountKinds],
      async apply(target, told) {
        const arr = host.use('arr.applications');
        const { managers } = await arr.linkedTo(KEY);
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        const mount = blocks.find(
          ({ configKey, block }) => mountKinds.includes(configKey) && isMount(block, templates.linksOf(block)),
        );
        const control = mount && (await host.find('mount.control')?.(mount.processName));
        const settings = new Settings(target, (url, options) => host.fetch(url, options));
        const present = await settings.read([INSTANCES, CATEGORIES, ...Object.values(facts.mountSettings ?? {})]);
        const slugs = managers.map(({ block }) => arr.slugOf(block));
        const wanted = wantedSettings(present, facts, { managers, slugs, mount: mount?.block, control });
        const changes = Object.entries(wanted).filter(([name, value]) => (present[name] ?? '') !== value);
        if (changes.length === 0) return;
        await settings.write(changes);
        for (const [name] of changes) told(`setting ${name} was brought up to date`);
      },
    });
  },
});

function isMount({ enabled, mount_dir: directory, mount_name: name }: Entry, links: readonly string[]): boolean {
  const isNamed = [directory, name].every(part => typeof part === 'string' && part !== '');
  return enabled === true && isNamed && links.includes(KEY);
}
