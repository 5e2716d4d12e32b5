// The managed server as other plugins request it: a server that has just ended is started, the reason why it does not
// run is reported, and its list of databases is read and changed.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import { Problem } from '../../../core/contract/problem.ts';
import { WorkQueue } from '../../../core/kit/work-queue.ts';
import { ManagedServer } from '../../../plugins/service-postgres/managed-server.ts';

function serverOf(supervisor: object): ManagedServer {
  const block = { processName: 'PostgreSQL', configKey: 'postgres', block: {} };
  const services: Record<string, object> = {
    'config.store': { blocks: () => [block] },
    'process.supervisor': supervisor,
  };
  return new ManagedServer({ use: (name: string) => services[name], paced: () => 1 } as unknown as Host, 'postgres');
}

const { signal } = new AbortController();

t.test('a running server is asked to start, because it may be ending', async t => {
  const started: unknown[] = [];
  const server = serverOf({
    get: () => ({ status: started.length === 0 ? 'running' : 'stopped', lastFailureReason: 'no room', lastExit: null }),
    start: async (...call: unknown[]) => void started.push(call),
  });
  await t.rejects(server.start({ by: 'metrics', signal }), { message: 'PostgreSQL does not run: no room' });
  t.same(started, [['PostgreSQL', 'request', 'metrics']]);
  const refused = serverOf({ start: () => Promise.reject(new Problem(409, 'held')) });
  await t.rejects(refused.start({ by: 'metrics', signal }), { message: 'held' });
});

t.test('the error says why the server does not run', async t => {
  const why = (snapshot?: object) => serverOf({ get: () => snapshot }).ready({ signal });
  const exit = { reason: 'Exited with code 1', unexpected: true };
  const stopped = { status: 'stopped', lastFailureReason: null };
  await t.rejects(why({ ...stopped, lastExit: exit }), { message: 'PostgreSQL does not run: Exited with code 1' });
  for (const snapshot of [
    undefined,
    { ...stopped, lastExit: null },
    { ...stopped, lastExit: { ...exit, unexpected: false } },
  ])
    await t.rejects(why(snapshot), { message: 'PostgreSQL does not run: it was stopped' });
});

interface Saved<List> {
  readonly updates: () => { readonly postgres?: { readonly databases: List } };
}

t.test('databases that are added and removed at once', async t => {
  let databases = ['kept', 'left', 'off'].map(name => ({ name, enabled: true }));
  const queue = new WorkQueue({ concurrency: 1 });
  const store = {
    get: () => ({ enabled: true, databases }),
    update: ({ updates }: Saved<typeof databases>) =>
      queue.add(async () => {
        const next = updates().postgres?.databases ?? databases;
        // A save takes its time.
        await new Promise(setImmediate);
        databases = next;
      }),
  };
  const server = new ManagedServer({ use: () => store } as unknown as Host, 'postgres');
  await Promise.all([
    server.register('one'),
    server.unregister(['left', 'off'], ['off']),
    server.register('two'),
    server.register('one'),
    server.unregister(['left']),
  ]);
  t.same(
    databases.map(({ name, enabled }) => [name, enabled]),
    [
      ['kept', true],
      ['off', false],
      ['one', true],
      ['two', true],
    ],
  );
});

t.test('a list with members that name no database', async t => {
  const saved: unknown[] = [];
  const databases = [null, { name: '' }, 'words', { name: 'own', enabled: true }];
  const store = {
    get: () => ({ enabled: true, databases }),
    update: async ({ updates }: Saved<unknown[]>) => void saved.push(updates().postgres?.databases),
  };
  const server = new ManagedServer({ use: () => store } as unknown as Host, 'postgres');
  t.same(server.server().databases, ['own']);
  await server.register('more');
  await server.unregister(['own']);
  t.same(saved, [
    [...databases, { name: 'more', enabled: true }],
    [null, { name: '' }, 'words'],
  ]);
});
