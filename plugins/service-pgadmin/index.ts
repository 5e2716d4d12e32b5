// pgAdmin: runs pgAgent, which carries out the jobs that are planned in pgAdmin, beside it.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { Companion, type CompanionLaunch } from './companion.ts';

const KEY = 'pgadmin';

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
    /** Of the coming start, where the values of the database are known. */
    let launch: CompanionLaunch | undefined;

    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan: { env, user }, fill }) {
        const { variable, value } = facts.password;
        launch = { command: facts.command.map(fill), env: { ...env, [variable]: fill(value) }, user };
      },
    });
    host.tap('process.started', async ({ configKey, processName }) => {
      const run = host.find('process.supervisor')?.share(processName);
      if (configKey === KEY && launch !== undefined && run !== undefined) await companion.start(launch, run);
    });
  },
});
