// Reads the configuration again and begins new log files on request, for whoever cannot send a signal to the host.

import { z } from 'zod';
import { definePlugin } from '#core';

export default definePlugin({
  name: 'host-reload',
  host: '^1',

  setup(host) {
    host.route({
      method: 'POST',
      path: '/host/reload',
      tag: 'host',
      summary: 'Reads the configuration again and rotates the logs, as SIGHUP does',
      response: z.object({ status: z.string().describe('a sentence'), problems: z.array(z.string()) }),
      async handle({ identity }) {
        await host.reload(identity.username ?? 'a request');
        const problems = host.use('config.store').problems.map(({ message }) => message);
        return { status: 'The configuration was read again, and the logs were rotated', problems };
      },
    });
  },
});
