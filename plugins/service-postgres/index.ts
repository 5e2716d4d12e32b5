// The database server: its programs, data directory and settings, and the databases of other services.
import path from 'node:path';
import { definePlugin } from '#core';
import { deepEqual } from '#kit/deep-equal';
import type {} from '../health-probe/contract.ts';
import type {} from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import type {} from '../wizard/contract.ts';
import { configureServer } from './configure.ts';
import { ManagedServer } from './managed-server.ts';
import { placeholdersOf } from './placeholders.ts';
import { findRunningServer } from './running-server.ts';
import { checkServer } from './server-probe.ts';
import { findServerPrograms } from './server-program.ts';
import { ServiceDatabases, withDatabases } from './service-databases.ts';
import { tellStrayEntries } from './stray-entries.ts';

const KEY = 'postgres';
const FIRST_ANSWER_MS = 60_000;
const LATER_ANSWER_MS = 10_000;

export default definePlugin({
  name: 'service-postgres',
  host: '^1',
  after: ['setup'],

  setup(host) {
    const store = host.use('config.store');
    const server = new ManagedServer(host, KEY);
    const manages = () => isOurs(server.options().command, host.find('service.templates')?.get(KEY));
    const databases = new ServiceDatabases(host, server);
    tellStrayEntries(host, KEY);
    // Callers of these methods limit the wait themselves, by a signal or by `limitMs`.
    const deadlinesMs = {
      start: Number.POSITIVE_INFINITY,
      ready: Number.POSITIVE_INFINITY,
      query: Number.POSITIVE_INFINITY,
    };
    host.provide('postgres.server', server, { mayFail: true, deadlinesMs });

    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan }) {
        if (plan.argv[0] !== 'postgres' || plan.cwd === undefined) return;
        const directory = await findServerPrograms(plan.cwd, plan.env.PATH ?? '');
        if (directory !== undefined) plan.argv[0] = path.join(directory, 'postgres');
      },
    });

    host.contribute('process.probe', KEY, { configKey: KEY, check: ({ block }) => checkServer(block) });
    host.contribute('process.survivor', KEY, {
      configKey: KEY,
      find: ({ block }, workingIn) => findRunningServer(block.config_dir, workingIn),
    });
    host.contribute('process.placeholders', KEY, {
      values: block => placeholdersOf(block, host.find('service.templates')?.get(block.configKey), store),
    });
    host.contribute('wizard.prerequisite', KEY, {
      configKey: KEY,
      isUsedBy: ({ block }) => block.block.postgres_enabled === true,
      serve: withDatabases,
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure(context) {
        if (manages()) await configureServer(context, host.find('config.files'), host.log);
      },
    });

    host.tap('process.started', async ({ configKey }) => {
      if (configKey !== KEY || !manages()) return;
      databases.forget();
      await databases.create(FIRST_ANSWER_MS);
    });
    // Before a service that uses PostgreSQL starts, its databases are created, and its waits for the server get the
    // server's present address.
    host.tap('process.prepare', async plan => {
      const { block, databases: known = [] } = host.find('service.templates')?.get(plan.configKey) ?? {};
      plan.waits.tcp = server.waitedFor(plan.waits.tcp, block?.wait_for_tcp);
      const name = store.blocks().find(({ configKey }) => configKey === KEY)?.processName ?? '';
      const runs = host.find('process.supervisor')?.get(name)?.status === 'running';
      const uses = plan.configKey !== KEY && known.some(({ engine }) => engine === 'postgres');
      if (uses && runs && manages()) await databases.create(LATER_ANSWER_MS);
      return plan;
    });
  },
});

/** Whether the server is configured by this plugin: not when it runs by a user's own command. */
function isOurs(command: unknown, template: ServiceTemplate | undefined): boolean {
  const isBlank = command === undefined || command === '' || (Array.isArray(command) && command.length === 0);
  return isBlank || deepEqual(command, template?.block.command);
}
