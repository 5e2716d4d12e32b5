// Riven: sets the variables that follow from its components (provider keys and the path of its mount), sends them to
// its settings, and writes its address and key for its frontend.
import path from 'node:path';
import { definePlugin, type Host, type NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { serverOf, tellServer } from './server.ts';
import { pushSettings } from './settings.ts';
import { setVariables } from './variables.ts';

const KEY = 'riven_backend';
const FRONTEND_KEY = 'riven_frontend';
const VARIABLE = /^RIVEN_/;

export default definePlugin({
  name: 'service-riven',
  host: '^1',
  after: ['setup'],

  setup(host) {
    /** The variables and the user with which each backend was last prepared, by process name. */
    const prepared = new Map<string, Prepared>();

    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan, owner, block: backend, template }) {
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        setVariables({ plan, backend, template, templates: host.use('service.templates'), blocks });
        const told = Object.entries(plan.env).filter(([name]) => VARIABLE.test(name));
        prepared.set(plan.processName, { variables: Object.fromEntries(told), owner });
      },
    });
    host.contribute('service.integration', 'riven-settings', {
      targets: [KEY],
      providers: [],
      async apply(target, told) {
        const known = prepared.get(target.processName);
        const server = await serverOf(host, target);
        if (known === undefined) return;
        if (server === undefined) throw new Error(`the API key of ${target.processName} is not known yet`);
        const changed = await pushSettings(server, known.variables, (url, options) => host.fetch(url, options));
        for (const name of changed) told(`setting ${name} was brought up to date`);
        await tellServer(host, target, host.paths.configDir, server, known.owner);
        for (const frontend of frontends(host))
          await tellServer(host, frontend, configOf(frontend), server, known.owner);
      },
    });
    host.contribute('service.configure', FRONTEND_KEY, {
      configKey: FRONTEND_KEY,
      async configure({ block, owner, makeDirectory }) {
        const backend = host
          .use('config.store')
          .blocks()
          .find(({ configKey }) => configKey === KEY);
        const server = backend && (await serverOf(host, backend));
        if (server === undefined) return;
        await makeDirectory(configOf(block));
        await tellServer(host, block, configOf(block), server, owner);
      },
    });
  },
});

interface Prepared {
  readonly variables: Readonly<Record<string, string>>;
  readonly owner: SetupContext['owner'];
}

/** The running frontends, which may have been started before the backend had its key. */
function frontends(host: Host): NamedBlock[] {
  const supervisor = host.find('process.supervisor');
  const blocks = supervisor?.blocks() ?? [];
  return blocks.filter(
    ({ configKey, processName }) => configKey === FRONTEND_KEY && supervisor?.get(processName)?.status === 'running',
  );
}

function configOf({ block }: NamedBlock): string {
  return path.join(String(block.config_dir), 'config');
}
