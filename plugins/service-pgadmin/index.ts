// pgAdmin: runs pgAgent beside it, which executes the jobs that are planned in pgAdmin, lists the managed server in it,
// and tells it where the programs are with which it saves and restores databases.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-postgres/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { tellPrograms } from './binary-paths.ts';
import { Companion, type CompanionLaunch } from './companion.ts';
import { passwordLine, register, storageFolder, userIn } from './registration.ts';

const KEY = 'pgadmin';
/** Name of the password file in the account's storage folder. */
const PASSWORDS = 'managed-server.pgpass';

const factsSchema = z.object({
  companion: z.object({
    name: z.string(),
    command: z.array(z.string()).min(1),
    password: z.object({ variable: z.string(), value: z.string() }),
  }),
});

export default definePlugin({
  name: 'service-pgadmin',
  host: '^1',
  needs: ['services'],
  after: ['process', 'setup'],

  setup(host) {
    const { companion: facts } = factsSchema.parse(host.use('service.templates').get(KEY)?.facts);
    const companion = new Companion(host, facts.name);
    /** The launch for the coming start, made during the set-up, where the placeholders can be filled in. */
    let launch: CompanionLaunch | undefined;
    /** The users of the server that pgAdmin was given: the last one by an earlier start, and those by this host. */
    const given = new Set<string>();

    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan: { env, user }, block, owner, fill, makeDirectory }) {
        const { variable, value } = facts.password;
        const email = String(block.block.setup_email ?? '');
        const server = host.find('postgres.server');
        const files = host.find('config.files');
        if (server !== undefined && files !== undefined && email !== '') {
          const directory = path.join(String(block.block.config_dir), 'storage', storageFolder(email));
          const { host: address, port, user: name, password } = server.access();
          await makeDirectory(directory, 0o700);
          const file = path.join(directory, PASSWORDS);
          given.add((await userIn(file)) ?? name).add(name);
          const text = passwordLine([address, port, '*', name, password]);
          await files.write(block, file, text, { mode: 0o600, owner });
        }
        if (server !== undefined && files !== undefined)
          await tellPrograms({ server, files, block, file: fill('{config_file}'), owner }).catch((error: unknown) =>
            host.log.warn(`${block.processName} is not told where the programs of the database server are`, error),
          );
        launch = { command: facts.command.map(fill), env: { ...env, [variable]: fill(value) }, user };
      },
    });
    host.contribute('service.integration', 'pgadmin-server', {
      targets: [KEY],
      providers: [],
      async apply({ block }, told) {
        const server = host.find('postgres.server');
        const email = String(block.setup_email ?? '');
        const name = server?.place()?.processName;
        if (server === undefined || name === undefined || email === '') return;
        if (await register(server, { email, name, passfile: `/${PASSWORDS}`, given }))
          told(`${name} is in its list of servers`);
      },
    });
    host.tap('process.started', async ({ configKey, processName }) => {
      const run = host.find('process.supervisor')?.share(processName);
      if (configKey === KEY && launch !== undefined && run !== undefined) await companion.start(launch, run);
    });
  },
});
