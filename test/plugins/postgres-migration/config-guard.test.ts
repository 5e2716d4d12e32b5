// The block of the server while a service is moved to it and another one is brought back: each may change its list of
// databases, and nobody else may.
import t from 'tap';
import { ConfigGuard } from '../../../plugins/postgres-migration/config-guard.ts';

const SERVER = 'PostgreSQL';

t.test('two migrations that change the same block at once', async t => {
  let check: (change: object) => void = () => undefined;
  const store = { findBlock: () => ({ path: ['postgres'] }) };
  const host = {
    tap: (_hook: string, own: typeof check) => {
      check = own;
    },
    use: () => store,
  };
  const guard = new ConfigGuard(host as never);
  const change = (key: string) => check({ before: { postgres: {} }, after: { postgres: { [key]: 'new' } } });
  await guard.guard(SERVER, 'a service is being moved to it', async () => {
    let end: () => void = () => undefined;
    const other = guard.changing(SERVER, ['databases'], () => new Promise<void>(resolve => (end = resolve)));
    await guard.changing(SERVER, ['enabled', 'databases'], async () => {
      end();
      await other;
      change('databases');
      change('enabled');
      t.throws(() => change('port'), { status: 409, message: /change port when that is done/ });
    });
    t.throws(() => change('databases'), { status: 409, message: /change databases/ });
  });
  change('databases');
});
