// The database server: its programs, data directory and settings, and the databases of other services.
import path from 'node:path';
import { definePlugin } from '#core';
import { deepEqual } from '#kit/deep-equal';
import type {} from '../health-probe/contract.ts';
import type {} from '../process/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import type { WizardUser } from '../wizard/contract.ts';
import { configureServer } from './configure.ts';
import { createDatabases } from './databases.ts';
import { ManagedServer } from './managed-server.ts';
import { databasesOf, placeholdersOf } from './placeholders.ts';
import { findRunningServer } from './running-server.ts';
import { checkServer } from './server-probe.ts';
import { findServerPrograms } from './server-program.ts';

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
    let creating: Promise<void> = Promise.resolve();
    /** The server and databases, as JSON, whose existence was last confirmed. */
    let created = '';

    /**
     * Runs one at a time. A failure is only logged, because the service that needs its database reports more about it.
     */
    const create = (limitMs: number): Promise<void> => {
      creating = creating
        .then(async () => {
          const wanted = JSON.stringify(server.server());
          if (wanted === created) return;
          await createDatabases(server.server(), { log: host.log, signal: host.signal, limitMs });
          created = wanted;
        })
        .catch((error: unknown) => host.log.error('the databases could not be created', error));
      return creating;
    };

    // Whoever waits for a start or for rows says for how long.
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
      created = '';
      await create(FIRST_ANSWER_MS);
    });
    // Before a service that uses PostgreSQL starts, its databases are created. It waits for the server where that is now.
    host.tap('process.prepare', async plan => {
      const { block, databases: known = [] } = host.find('service.templates')?.get(plan.configKey) ?? {};
      plan.waits.tcp = server.waitedFor(plan.waits.tcp, block?.wait_for_tcp);
      const name = store.blocks().find(({ configKey }) => configKey === KEY)?.processName ?? '';
      const runs = host.find('process.supervisor')?.get(name)?.status === 'running';
      const uses = plan.configKey !== KEY && known.some(({ engine }) => engine === 'postgres');
      if (uses && runs && manages()) await create(LATER_ANSWER_MS);
      return plan;
    });
  },
});

/** A server that runs by a user's own command is not configured. */
function isOurs(command: unknown, template: ServiceTemplate | undefined): boolean {
  const isBlank = command === undefined || command === '' || (Array.isArray(command) && command.length === 0);
  return isBlank || deepEqual(command, template?.block.command);
}

/** Adds the databases of these services to the server's own list. */
function withDatabases(own: Readonly<Record<string, unknown>>, users: readonly WizardUser[]): Record<string, unknown> {
  const present = (own.databases ?? []) as { name: string; enabled: boolean }[];
  const names = users.flatMap(({ block, template }) => databasesOf(block, template));
  const missing = names.filter(name => !present.some(database => database.name === name && database.enabled));
  if (missing.length === 0) return {};
  const kept = present.filter(database => !missing.includes(database.name));
  return { databases: [...kept, ...missing.map(name => ({ name, enabled: true }))] };
}
