// A plugin to start from. It imports only types, so that nothing has to be installed where it runs.
import type { Plugin, Zod } from 'stackwarden/plugin';

const config = (z: Zod) => z.object({ greeting: z.string().default('Hello').describe('how callers are greeted') });

export default {
  name: 'my-plugin',
  version: '0.1.0',
  host: '^1',
  after: ['process'],
  config,

  setup(host, { greeting }) {
    const { z } = host;
    let started = 0;
    host.route({
      method: 'GET',
      path: '/my-plugin',
      summary: 'Greets, and tells how many services have started since the plugin was loaded',
      capability: 'my_plugin',
      response: z.object({ text: z.string(), started: z.number() }),
      handle: () => ({ text: greeting, started }),
    });
    host.tap('process.started', ({ processName }) => {
      started += 1;
      host.log.info(`${processName} runs`);
    });
    return () => host.log.info('gone');
  },
} satisfies Plugin<ReturnType<typeof config>>;
