// Stops all services, or the host, too, when a service ends: `on_exit` in its block.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../auto-restart/contract.ts';
import type {} from '../process/contract.ts';

/** Without defaults, because an editor in a browser would write them into the block. */
const onExitBlock = z.looseObject({
  on_exit: z
    .enum(['stop-all', 'shutdown'])
    .optional()
    .meta({ live: true, fallback: true })
    .describe(
      'what follows when it ends by itself and is not restarted: stop-all stops every service, shutdown Stackwarden too',
    ),
});

export default definePlugin({
  name: 'on-exit',
  host: '^1',
  needs: ['process'],
  // The tap must run after that of auto-restart, which plans restarts.
  after: ['auto-restart'],

  setup(host) {
    host.contribute('config.block', 'on-exit', { schema: onExitBlock });
    host.tap('process.exited', ({ processName, completed }, { unexpected, reason }) => {
      const { on_exit: action } = host.use('config.store').findBlock(processName)?.block ?? {};
      const endedByItself = unexpected || completed === true;
      const isRestarted = host.find('process.restarts')?.report(processName).pending === true;
      if (action === undefined || !endedByItself || isRestarted || host.stopping !== null) return;
      host.log.warn(`${processName} has ended (${reason}): every service is stopped, as its on_exit says`);
      // Not awaited, because stopping all services takes longer than a tap may.
      void host
        .use('process.supervisor')
        .stopAll(`on_exit of ${processName}`, processName)
        .catch((error: unknown) => host.log.error('not every service could be stopped', error))
        .then(() => {
          if (action === 'shutdown') host.stop();
        });
    });
  },
});
