// A hold that ends before its work, as when the plugin is loaded anew: the migration is over only with its work.
import t from 'tap';
import { newRecord } from '../../../plugins/postgres-migration/job.ts';
import { Migrations } from '../../../plugins/postgres-migration/migrations.ts';
import { identityOf } from '../../support/postgres-migration.ts';

const NAME = 'Sonarr';

t.test('a migration whose hold has ended is under way until its work is over', async t => {
  const told: string[] = [];
  let end: () => void = () => undefined;
  const untilEnd = new Promise<void>(resolve => {
    end = resolve;
  });
  const supervisor = {
    get: () => ({ held: null }),
    async hold(_name: string, _reason: string, work: (held: object) => Promise<unknown>) {
      void work({ signal: new AbortController().signal });
      throw new Error('the hold has ended');
    },
  };
  const context = {
    host: { signal: new AbortController().signal, use: () => supervisor },
    guard: { guard: (_name: string, _reason: string, work: () => Promise<unknown>) => work() },
    files: { list: () => [] },
  };
  const migrations = new Migrations(context as never, {} as never);
  const identity = identityOf('cutover');
  const resumed = migrations.resume({ processName: NAME } as never, newRecord(identity, []), async () => {
    await untilEnd;
    told.push('the work is over');
    return 'its value';
  });
  const settled = migrations.settled().then(() => told.push('settled'));
  end();
  t.equal(await resumed, 'its value');
  await settled;
  t.same(told, ['the work is over', 'settled']);
});
