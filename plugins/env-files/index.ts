// Variables of a service from files: `env_file` in its block. What the block's own `env` names wins.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { readVariables } from './env-file.ts';
import { type EnvFileKey, envFileBlock, filesOf } from './settings.ts';

export default definePlugin({
  name: 'env-files',
  host: '^1',
  after: ['process'],

  setup(host) {
    host.contribute('config.block', 'env-files', { schema: envFileBlock });
    host.tap('process.prepare', async plan => {
      const own = (plan.block.env ?? {}) as Readonly<Record<string, unknown>>;
      for (const file of filesOf(plan.block.env_file as EnvFileKey | undefined, host.paths.configDir)) {
        const { puid, pgid } = host.use('config.store').root();
        // Nobody is given more to read than the service itself, also where that runs as root.
        const reader = plan.user ?? (process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : {});
        const variables = await readVariables(file, reader, plan.processName);
        for (const [name, value] of variables) if (!Object.hasOwn(own, name)) plan.env[name] = value;
      }
      return plan;
    });
  },
});
