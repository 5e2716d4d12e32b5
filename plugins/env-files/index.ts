// Variables of a service from files: `env_file` in its block. Variables in the block's own `env` take precedence.
import { definePlugin } from '#core';
import type { LaunchPlan } from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { readVariables } from './env-file.ts';
import { type EnvFileKey, envFileBlock, filesOf } from './settings.ts';

export default definePlugin({
  name: 'env-files',
  host: '^1',
  after: ['process'],

  setup(host) {
    host.contribute('config.block', 'env-files', { schema: envFileBlock });
    const read = async (plan: LaunchPlan): Promise<LaunchPlan> => {
      const own = (plan.block.env ?? {}) as Readonly<Record<string, unknown>>;
      for (const file of filesOf(plan.block.env_file as EnvFileKey | undefined, host.paths.configDir)) {
        const { puid, pgid } = host.use('config.store').root();
        // Never root, even for a service that runs as root: only files that the services' user may read are read.
        const reader = plan.user ?? (process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : {});
        const variables = await readVariables(file, reader, plan.processName);
        for (const [name, value] of variables) {
          if (Object.hasOwn(own, name)) continue;
          plan.env[name] = value;
          plan.givenEnv.add(name);
        }
      }
      return plan;
    };
    host.tap(
      'process.prepare',
      async plan => {
        if (host.find('service.templates')?.get(plan.configKey) === undefined) return plan;
        // The steps of the set-up use the variables. What cannot be read yet may come with it; else the tap below
        // tells.
        return read(plan).catch(() => plan);
      },
      { stage: -15 },
    );
    host.tap('process.prepare', read);
  },
});
