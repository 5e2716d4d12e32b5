// The applications of the Arr family, for every plugin that sets them up or hands them to another service.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type PointOptions } from '#core';
import { functionSchema } from '#kit/function-schema';
import type {} from '../integrations/contract.ts';
import { Applications, MANAGERS } from './applications.ts';
import { HandedOver } from './handed-over.ts';

/** Longer than a restart, and than the answers of all that are asked in one call. */
const ASK_DEADLINE_MS = 900_000;

const consumerPoint: PointOptions = {
  schema: z.looseObject({ configKey: z.string(), managers: functionSchema }),
  answers: { managers: z.array(z.looseObject({ address: z.string(), apiKey: z.string() })) },
  deadlineMs: 60_000,
  mayFail: true,
};

export default definePlugin({
  name: 'arr',
  host: '^1',
  after: ['config-files', 'service-templates'],

  setup(host) {
    const handedOver = new HandedOver(path.join(host.paths.configDir, 'handed-over.json'), host.log);
    const applications = new Applications(host, handedOver);
    // An application that does not answer yet is asked again by whoever asked.
    host.provide('arr.applications', applications, { deadlineMs: ASK_DEADLINE_MS, mayFail: true });
    const consumers = host.point('arr.consumer', consumerPoint);
    // A manager makes its key at its first start, which may come after that of those who need it.
    host.contribute('service.integration', 'arr-consumers', {
      get targets() {
        return [...consumers.values()].map(({ configKey }) => configKey);
      },
      providers: MANAGERS,
      async apply(target, told) {
        for (const { configKey, managers } of consumers.values())
          if (configKey === target.configKey) await applications.renew(target, await managers(target), told);
      },
    });
  },
});
