// The managed server is registered in pgAdmin, whose tables are here as its releases create them.
import { existsSync } from 'node:fs';
import { chmod, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { userIn } from '../../../plugins/service-pgadmin/registration.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { query } from '../../support/metrics-postgres.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-pgadmin', 'service-postgres', 'integrations', 'format-python'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);
const TABLES = `
  CREATE TABLE "user" (id serial PRIMARY KEY, email varchar(256));
  CREATE TABLE servergroup (id serial PRIMARY KEY, user_id integer NOT NULL, name varchar(128) NOT NULL);
  CREATE TABLE server (id serial PRIMARY KEY, user_id integer NOT NULL, servergroup_id integer NOT NULL,
    name varchar(128) NOT NULL, host varchar(128), port integer, maintenance_db varchar(64), username varchar(64) NOT NULL,
    save_password integer NOT NULL, shared boolean NOT NULL, comment varchar(1024), connection_params json);
  INSERT INTO "user" (email) VALUES ('other@example.org'), ('me@example.org');
  INSERT INTO servergroup (user_id, name) VALUES (1, 'Servers'), (2, 'Servers'), (2, 'More');
  INSERT INTO server (user_id, servergroup_id, name, host, port, username, save_password, shared)
    VALUES (2, 3, 'mine', 'nas', 5432, 'me', 0, false)`;

t.test('the server is listed once, with its password, and follows a change', { skip }, async t => {
  const dir = testDir(t, { run: {} });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'run'), 0o777);
  const postgres = { ...(await postgresBlock(t)), password: 'pa:ss\\' };
  const app = await startHost({
    plugins: [
      'config',
      'process',
      'services',
      'setup',
      'integrations',
      'health-probe',
      'service-pgadmin',
      'service-postgres',
      'config-files',
      'format-python',
    ],
    config: {
      dumb: { integrations: { retry_seconds: 0.2, answer_seconds: 0.2 } },
      postgres,
      pgadmin: {
        process_name: 'Admin',
        port: await freePort(),
        setup_email: 'me@example.org',
        config_dir: path.join(dir, 'run'),
        config_file: path.join(dir, 'run/config_local.py'),
        log_file: path.join(dir, 'run/own.log'),
        command: ['sleep', '600'],
      },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'PostgreSQL')).status, 200);
  await until(() => query(postgres, 'SELECT 1', 'postgres').catch(() => undefined), { what: 'the server' });
  await query(postgres, 'CREATE DATABASE pgadmin', 'postgres').catch(() => undefined);
  t.equal((await start(app, 'Admin')).status, 200);
  await query(postgres, TABLES, 'pgadmin');
  const listed = () => query(postgres, 'SELECT * FROM server ORDER BY id', 'pgadmin');
  const found = async (port: unknown) =>
    (await listed()).find(entry => entry.name === 'PostgreSQL' && entry.port === port);
  const entry = await until(() => found(postgres.port), { what: 'the server in its list' });
  t.match(entry, {
    user_id: 2,
    servergroup_id: 2,
    host: '127.0.0.1',
    username: 'keeper',
    maintenance_db: 'postgres',
    save_password: 0,
    shared: false,
    connection_params: { passfile: '/managed-server.pgpass' },
  });
  const passwords = path.join(dir, 'run/storage/me_example.org/managed-server.pgpass');
  t.equal(await readFile(passwords, 'utf8'), `127.0.0.1:${postgres.port}:*:keeper:pa\\:ss\\\\\n`);
  t.equal((await stat(passwords)).mode & 0o777, 0o600);

  await query(postgres, "UPDATE server SET port = 1, comment = 'kept' WHERE name = 'PostgreSQL'", 'pgadmin');
  t.equal((await restart(app, 'Admin')).status, 200);
  t.match(await until(() => found(postgres.port), { what: 'the present port' }), { comment: 'kept' });
  t.match(await listed(), [{ name: 'mine', host: 'nas' }, { name: 'PostgreSQL' }], 'and nothing else');
  t.equal((await listed()).length, 2);

  const [, { id }] = await listed();
  const reports = { name: 'reports', host: '127.0.0.1', port: postgres.port, username: 'reporting' };
  await query(
    postgres,
    `UPDATE server SET port = 1, name = 'main', username = 'reader' WHERE id = ${id};
     INSERT INTO server (user_id, servergroup_id, name, host, port, username, save_password, shared)
       VALUES (2, 2, 'reports', '127.0.0.1', ${postgres.port}, 'reporting', 0, false)`,
    'pgadmin',
  );
  t.equal((await restart(app, 'Admin')).status, 200);
  await until(async () => (await listed())[1].port === postgres.port, { what: 'the present port again' });
  t.match(await listed(), [{ name: 'mine' }, { name: 'main', username: 'reader' }, reports], 'names of users stay');

  await query(postgres, `DELETE FROM server WHERE id = ${id}`, 'pgadmin');
  t.equal((await restart(app, 'Admin')).status, 200);
  t.match(await until(() => found(postgres.port), { what: 'the entry once more' }), { username: 'keeper' });
  t.match(await listed(), [{ name: 'mine' }, reports, { name: 'PostgreSQL' }], 'an entry for the same address stays');

  await query(postgres, 'CREATE ROLE "the:boss" SUPERUSER LOGIN', 'postgres');
  t.equal((await app.post('/config', { updates: { postgres: { user: 'the:boss' } } })).status, 200);
  t.equal((await restart(app, 'Admin')).status, 200);
  await until(async () => (await found(postgres.port))?.username === 'the:boss', { what: 'the present user' });
  t.match(await listed(), [{ name: 'mine' }, reports, { name: 'PostgreSQL' }]);
  t.equal(await userIn(passwords), 'the:boss');

  await query(
    postgres,
    `ALTER TABLE server ADD COLUMN passfile text;
     UPDATE server SET passfile = connection_params->>'passfile', port = 1;
     ALTER TABLE server DROP COLUMN connection_params`,
    'pgadmin',
  );
  t.equal((await restart(app, 'Admin')).status, 200);
  await until(() => found(postgres.port), { what: 'the present port in a table of an earlier release' });
  t.match(await listed(), [{ port: 1 }, { port: 1 }, { passfile: '/managed-server.pgpass' }]);
});
