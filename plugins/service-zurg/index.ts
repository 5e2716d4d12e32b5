// zurg: starts the user's own program beside the configuration, if there is one, instead of an installed release, and
// clears the login in its file when the block has none.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type {} from '../config-files/contract.ts';
import type {} from '../setup/contract.ts';

const KEY = 'zurg';
const LOGIN = ['username', 'password'];

const factsSchema = z.object({
  ownProgram: z.string().describe('started instead of what is installed, where it is there'),
});

export default definePlugin({
  name: 'service-zurg',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose({ plan, block, template }) {
        const { ownProgram } = factsSchema.parse(template.facts);
        const [program = '', ...rest] = plan.argv;
        // A command whose program lies elsewhere was chosen by the user and stays.
        const isInstalled = path.dirname(program) === path.normalize(String(block.block.config_dir));
        if (isInstalled && (await fileVersion(ownProgram)) !== null) plan.argv = [ownProgram, ...rest];
      },
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block, fill, owner }) {
        const { user } = block.block;
        if (typeof user === 'string' && user !== '') return;
        const values = (present: Readonly<Record<string, unknown>>) =>
          Object.fromEntries(
            LOGIN.filter(name => ![undefined, null, ''].includes(present[name] as '')).map(name => [name, '']),
          );
        const wanted = { seed: undefined, values, initial: {}, mode: 0o600, owner };
        await host.find('config.files')?.ensure(block, fill('{config_file}'), wanted);
      },
    });
  },
});
