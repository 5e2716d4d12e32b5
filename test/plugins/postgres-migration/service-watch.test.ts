// The message about a service that ends while a migration watches it.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import { waitUntilHealthy } from '../../../plugins/postgres-migration/service-watch.ts';

t.test('the message says why the service ended', async t => {
  const watch = (snapshot?: object) =>
    waitUntilHealthy(
      { use: () => ({ get: () => snapshot }), paced: (ms: number) => ms } as unknown as Host,
      'Radarr',
      new AbortController().signal,
      { isStarted: true },
    );
  const stopped = { pid: null, status: 'stopped', lastFailureReason: null, lastExit: { reason: 'Exited with code 3' } };
  await t.rejects(watch(stopped), { message: 'Radarr ended again: Exited with code 3' });
  await t.rejects(watch({ ...stopped, lastFailureReason: 'no room' }), { message: 'Radarr ended again: no room' });
  await t.rejects(watch(), { message: 'Radarr ended again: without a reason' });
});
