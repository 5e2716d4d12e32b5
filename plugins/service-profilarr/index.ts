// Profilarr: starts the installed one of its two layouts, and writes the media managers that ask for it to its
// database.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-arr/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../setup/contract.ts';
import { connect, linkTags, type Place } from './connections.ts';
import { type Layout, layoutOf, useProgram } from './layout.ts';

const KEY = 'profilarr';

const PLACES: Readonly<Record<Layout, Place>> = {
  v1: { file: 'config/profilarr.db', table: 'arr_config', addressColumn: 'arr_server' },
  v2: { file: 'config/data/profilarr.db', table: 'arr_instances', addressColumn: 'url' },
};

const factsSchema = z.object({
  managers: z.array(z.string()).describe('kinds of media managers whose profiles it keeps'),
  option: z.string().describe('by which a manager asks for it'),
});

export default definePlugin({
  name: 'service-profilarr',
  host: '^1',
  needs: ['services'],
  after: ['setup', 'integrations', 'service-arr'],

  setup(host) {
    const templates = host.use('service.templates');
    const facts = factsSchema.parse(templates.get(KEY)?.facts);

    host.contribute('service.program', KEY, {
      configKey: KEY,
      async choose(context) {
        const { plan, block, template, isTemplates } = context;
        if (!isTemplates || plan.cwd === undefined) return;
        const { env } = host.use('service.templates').block(template, block.key);
        if ((await layoutOf(plan.cwd)) === 'v2') await useProgram(context, plan.cwd, env as object);
      },
    });
    host.contribute('service.integration', 'profilarr-connections', {
      targets: [KEY],
      providers: facts.managers,
      async apply(target, told) {
        const { linksOf } = host.use('service.templates');
        const own = linksOf(target.block);
        const { config_dir: directory } = target.block;
        // A Profilarr without a core service gets its managers by hand.
        if (own.length === 0 || typeof directory !== 'string') return;
        const isServed = ({ configKey, block }: NamedBlock): boolean =>
          facts.managers.includes(configKey) &&
          block.enabled === true &&
          block[facts.option] === true &&
          linksOf(block).some(link => own.includes(link));
        const served = (host.find('process.supervisor')?.blocks() ?? []).filter(isServed);
        const names = served.map(({ configKey, key }) => `${configKey}:${key}`);
        const managers = (await host.use('arr.applications').managers()).filter(({ block }) => isServed(block));
        const wanted = managers.map(({ kind, name, address, apiKey, links }) => ({
          name: `${kind}:${name}`,
          type: kind,
          address,
          apiKey,
          tags: [host.use('service.templates').get(kind)?.displayName ?? kind, ...linkTags(links)],
        }));
        const place = PLACES[await layoutOf(directory)];
        const user = host.use('process.supervisor').userOf(target);
        const changes = await connect({ ...place, file: path.join(directory, place.file) }, wanted, names, user);
        for (const change of changes) told(`the connection ${change}`);
      },
    });
  },
});
