// The address of a service's database: from its own variables, else from the managed server.
import t from 'tap';
import { addressOf } from '../../../plugins/database-postgres/address.ts';

const MANAGED = {
  postgres_host: '127.0.0.1',
  postgres_port: 5_433,
  postgres_user: 'keeper',
  postgres_password: 'managed',
  postgres_database: 'films',
  postgres_log_db: 'films-log',
};

t.test('without variables the managed server is used', async t => {
  t.same(addressOf({ role: 'main' }, {}, MANAGED), {
    host: '127.0.0.1',
    port: 5_433,
    user: 'keeper',
    password: 'managed',
    database: 'films',
  });
  t.equal(addressOf({ role: 'logs' }, {}, MANAGED).database, 'films-log');
  t.equal(addressOf({ role: 'main' }, { postgres_main_db: 'own' }, MANAGED).database, 'own');
  t.equal(addressOf({ role: 'logs' }, { postgres_log_db: 'own' }, MANAGED).database, 'own');
  t.equal(addressOf({ role: 'x', connection: { database: 'wanted' } }, {}, MANAGED).database, 'wanted');
  t.match(addressOf({ role: 'main', name: 'usual' }, {}, {}), { host: '127.0.0.1', port: 5_432, database: 'usual' });
});

t.test('variables name another server', async t => {
  const from = (connection: Record<string, string>) => addressOf({ role: 'main', connection }, {}, MANAGED);
  t.same(from({ uri: 'postgresql://me:p%40ss@db.example:6000/shelf?sslmode=disable' }), {
    host: 'db.example',
    port: 6_000,
    user: 'me',
    password: 'p@ss',
    database: 'shelf',
  });
  t.match(from({ uri: 'postgres://me@[::1]/shelf' }), { host: '::1', password: '', database: 'shelf' });
  t.equal(from({ uri: 'postgres://me:50%@db.example/shelf' }).password, '50%', 'a lone percent sign');
  t.match(from({ uri: 'sqlite://shelf.db' }), { host: '127.0.0.1', password: 'managed' });
  t.same(from({ keywords: 'Host=db.example;Port=6000;Database=shelf;User Id=me;Password="a;""b""";Timeout=3' }), {
    host: 'db.example',
    port: 6_000,
    user: 'me',
    password: 'a;"b"',
    database: 'shelf',
  });
  t.match(
    from({ host: 'db.example' }),
    { host: 'db.example', password: '', user: 'keeper' },
    'it gets no password of another',
  );
  t.match(from({ socket: '/run/server', user: 'me' }), { host: '/run/server', user: 'me' });
});
