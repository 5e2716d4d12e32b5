// Stops all services, or the host, too, when a service ends: `on_exit` in its block.
import { z } from 'zod';
import { definePlugin } from '#core';
import { deepEqual } from '#kit/deep-equal';
import type {} from '../auto-restart/contract.ts';
import type { ExitRecord, ProcessSnapshot } from '../process/contract.ts';

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
    const follow = ({ processName, completed }: ProcessSnapshot, { unexpected, reason }: ExitRecord): void => {
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
    };
    /** Follows an end during a hold if the holder, such as an update that takes a release back, has left it at that. */
    const followAfterHold = async ({ processName }: ProcessSnapshot, exit: ExitRecord): Promise<void> => {
      const isReleased = await host
        .use('process.supervisor')
        .released(processName)
        .then(
          () => true,
          () => false,
        );
      const process = host.find('process.supervisor')?.get(processName);
      const isLast = process?.status === 'stopped' && !process.stoppedByUser && deepEqual(process.lastExit, exit);
      if (isReleased && isLast && !host.signal.aborted) follow(process, exit);
    };
    host.tap('process.exited', (process, exit) => {
      if (process.held === null) follow(process, exit);
      else if (exit.unexpected || process.completed === true) void followAfterHold(process, exit);
    });
  },
});
