// Reads the configuration again and begins new log files on request, for clients that cannot send a signal to the host.

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
        const { problems, stateReason, unusedReason } = host.use('config.store');
        const misfits = problems.map(({ message }) => message);
        const fault = unusedReason ?? stateReason;
        if (fault === null || misfits.includes(fault))
          return { status: 'The configuration was read again, and the logs were rotated', problems: misfits };
        return {
          status: 'The configuration stays as it was, because its file cannot be used; the logs were rotated',
          problems: [`${fault}; mend it`, ...misfits],
        };
      },
    });
  },
});
