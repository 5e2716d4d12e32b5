// Riven: sets the environment variables that follow from its components, namely provider keys and the path of its
// mount.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';

const KEY = 'riven_backend';

const factsSchema = z.object({
  mountVariables: z.array(z.string()).default([]).describe('each holds the place where its files are mounted'),
});

export default definePlugin({
  name: 'service-riven',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan }) {
        const templates = host.use('service.templates');
        const target = templates.get(KEY)?.onboarding?.debridKey;
        const { mountVariables } = factsSchema.parse(templates.get(KEY)?.facts ?? {});
        const variables = target !== undefined && 'variables' in target ? (target.variables ?? {}) : {};
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        const attached = blocks.filter(({ block }) => block.enabled === true && templates.linksOf(block).includes(KEY));
        for (const { block } of attached) {
          const provider = String(block.key_type ?? '')
            .toLowerCase()
            .replaceAll(/[^a-z0-9]/g, '');
          const variable = variables[provider];
          if (variable !== undefined && typeof block.api_key === 'string' && block.api_key !== '')
            plan.env[variable] ??= block.api_key;
        }
        const [mount] = attached.flatMap(component => templates.mountOf(component) ?? []);
        if (mount === undefined) return;
        const directory = `${mount}/__all__`;
        for (const name of mountVariables) plan.env[name] ??= directory;
      },
    });
  },
});
