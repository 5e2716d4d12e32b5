// The database server of the stack: its programs, its data directory, its settings, and the databases of the services.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-setup/contract.ts';
import type {} from '../service-templates/contract.ts';
import { hasData, initialise, protect } from './data-directory.ts';
import { createDatabases, type DatabaseServer } from './databases.ts';
import { findServerPrograms } from './server-program.ts';

const KEY = 'postgres';
const FIRST_ANSWER_MS = 60_000;
const LATER_ANSWER_MS = 10_000;

export default definePlugin({
  name: 'setup-postgres',
  host: '^1',
  after: ['service-setup'],

  setup(host) {
    const store = host.use('config.store');
    const option = (name: string): unknown => store.get([KEY, name]);
    let creating: Promise<void> = Promise.resolve();
    /** The server and databases that were found or made. */
    let created = '';

    const server = (): DatabaseServer => ({
      host: ['0.0.0.0', '::', ''].includes(String(option('host') ?? '')) ? '127.0.0.1' : String(option('host')),
      port: Number(option('port')),
      user: String(option('user')),
      password: String(option('password')),
      databases: ((option('databases') ?? []) as { name?: unknown; enabled?: unknown }[])
        .filter(({ name, enabled }) => typeof name === 'string' && enabled !== false)
        .map(({ name }) => String(name)),
    });
    /** One after the other. A failure is told, and does not hold up a service that can say more about it. */
    const create = (limitMs: number): Promise<void> => {
      creating = creating
        .then(async () => {
          const wanted = JSON.stringify(server());
          if (wanted === created) return;
          await createDatabases(server(), { log: host.log, signal: host.signal, limitMs });
          created = wanted;
        })
        .catch((error: unknown) => host.log.error('the databases could not be created', error));
      return creating;
    };

    host.tap('service.install', async ({ plan, template }) => {
      if (template.key !== KEY || plan.argv[0] !== 'postgres' || plan.cwd === undefined) return;
      const directory = await findServerPrograms(plan.cwd, plan.env.PATH ?? '');
      if (directory !== undefined) plan.argv[0] = path.join(directory, 'postgres');
    });

    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan, block, template, owner, fill, makeDirectory, store: save }) {
        const [program = ''] = plan.argv;
        const directory = plan.cwd;
        // A server of one's own, started in another way, is left to its owner.
        if (directory === undefined || path.basename(program) !== 'postgres') return;
        let password = String(block.block.password ?? '');
        if (!(await hasData(directory))) {
          if (password === '' || password === template.block.password) {
            password = randomBytes(24).toString('base64url');
            await save({ password });
          }
          await protect(directory, owner);
          await initialise({
            directory,
            initdb: path.join(path.dirname(program), 'initdb'),
            user: String(block.block.user),
            password,
            extra: String(block.block.initdb_args ?? '')
              .split(/\s+/)
              .filter(Boolean),
            owner,
            signal: plan.signal,
          });
          host.log.info(`${block.processName}: a data directory was made in ${directory}`);
        }
        const sockets = fill('{run_directory}');
        await makeDirectory(sockets, 0o775);
        await host.find('config.files')?.ensure(block, fill('{config_file}'), {
          seed: undefined,
          values: {
            port: String(block.block.port),
            listen_addresses: String(block.block.host ?? '127.0.0.1'),
            unix_socket_directories: sockets,
            shared_buffers: String(block.block.shared_buffers),
            max_connections: String(block.block.max_connections),
          },
          initial: {},
          mode: 0o600,
          owner,
        });
      },
    });

    host.tap('process.started', async ({ configKey }) => {
      if (configKey !== KEY || !isOurs(option('command'))) return;
      created = '';
      await create(FIRST_ANSWER_MS);
    });
    // A service that keeps its data there finds its database.
    host.tap('process.prepare', async plan => {
      const known = host.find('service.templates')?.get(plan.configKey)?.databases ?? [];
      const name = store.blocks().find(({ configKey }) => configKey === KEY)?.processName ?? '';
      const runs = host.find('process.supervisor')?.get(name)?.status === 'running';
      const uses = plan.configKey !== KEY && known.some(({ engine }) => engine === 'postgres');
      if (uses && runs && isOurs(option('command'))) await create(LATER_ANSWER_MS);
      return plan;
    });
  },
});

/** A server that is started by a command of the user's own, other than `postgres`, is left to its owner. */
function isOurs(command: unknown): boolean {
  const [program = ''] = Array.isArray(command) ? command.map(String) : String(command ?? '').split(' ');
  return program === '' || path.basename(program) === KEY;
}
