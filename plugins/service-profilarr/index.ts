// Profilarr: starts whichever of its two layouts is installed.
import { definePlugin } from '#core';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { layoutOf, useProgram } from './layout.ts';

const KEY = 'profilarr';

export default definePlugin({
  name: 'service-profilarr',
  host: '^1',
  needs: ['services'],
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose(context) {
        const { plan, block, isTemplates } = context;
        const templates = host.use('service.templates');
        const template = templates.get(KEY);
        if (!isTemplates || template === undefined || plan.cwd === undefined) return;
        const { env } = templates.block(template, block.key);
        if ((await layoutOf(plan.cwd)) === 'v2') await useProgram(context, plan.cwd, env as object);
      },
    });
  },
});
