// A media manager that no longer uses the managed server: its file no longer points to it.
import { existsSync } from 'node:fs';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';

const needed = ['service-arr', 'service-postgres', 'setup', 'services', 'format-xml'];
const skip = !needed.every(name => existsSync(path.join(pluginsDir, name)));
const plugins = ['config', 'process', 'config-files', ...needed];

t.test('settings that were written for the server are removed, and nothing else', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'config.xml');
  const block = async (name: string, more: object = {}) => ({
    process_name: name,
    port: await freePort(),
    config_dir: dir,
    config_file: file,
    log_file: path.join(dir, 'own.log'),
    command: ['sleep', '600'],
    wait_for_tcp: [],
    ...more,
  });
  const app = await startHost({
    plugins,
    config: {
      postgres: { port: 5_999, user: 'keeper', password: 'the-password' },
      prowlarr: { instances: { Default: await block('Indexers', { postgres_enabled: true }) } },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Indexers');
  t.equal(answer.status, 200, answer.text);
  const led = await readFile(file, 'utf8');
  t.match(led, '<PostgresHost>127.0.0.1</PostgresHost>');
  t.equal((await stat(file)).mode & 0o077, 0, 'others do not read the password');

  const set = (on: boolean) =>
    app.post('/config', { process_name: 'Indexers', updates: { postgres_enabled: on }, persist: true });
  await set(false);
  t.equal((await restart(app, 'Indexers')).status, 200);
  const left = await readFile(file, 'utf8');
  t.notMatch(left, /the-password|127\.0\.0\.1|prowlarr-main/);
  t.match(left, '<PostgresPort>5999</PostgresPort>', 'a number that it would not read as a blank stays');
  t.match(left, '<InstanceName>Indexers</InstanceName>');

  await writeFile(file, led);
  t.equal((await restart(app, 'Indexers')).status, 200);
  t.equal(await readFile(file, 'utf8'), led, 'what its owner writes afterwards stays');

  await set(true);
  t.equal((await restart(app, 'Indexers')).status, 200);
  t.match(await readFile(file, 'utf8'), '<PostgresMainDb>prowlarr-main</PostgresMainDb>');
  await set(false);
  const own = led.replace('127.0.0.1', 'nas');
  await writeFile(file, own);
  t.equal((await restart(app, 'Indexers')).status, 200);
  t.equal(await readFile(file, 'utf8'), own, 'a server of its owner stays');
});

t.test('an instance with a directory of its own is told what names its file', { skip }, async t => {
  const instance = {
    process_name: 'Second',
    port: await freePort(),
    config_dir: testDir(t),
    command: ['sleep', '600'],
  };
  const app = await startHost({ plugins, config: { prowlarr: { instances: { Second: instance } } } });
  t.teardown(() => app.stop());
  const { body } = await start(app, 'Second');
  t.match(
    body.detail,
    /second\/config\.xml lies outside .*; set the config_file of the service to a file in its config_dir/,
  );
});

t.test('settings that the owner wrote for the server stay', { skip }, async t => {
  const text = '<Config>\n  <PostgresHost>127.0.0.1</PostgresHost>\n  <PostgresMainDb>a</PostgresMainDb>\n</Config>\n';
  const dir = testDir(t, { 'config.xml': text });
  await chmod(dir, 0o777);
  const file = path.join(dir, 'config.xml');
  await chmod(file, 0o666);
  const app = await startHost({
    plugins,
    config: {
      sonarr: {
        instances: {
          Default: {
            process_name: 'Shows',
            port: await freePort(),
            config_dir: dir,
            config_file: file,
            log_file: path.join(dir, 'own.log'),
            command: ['sleep', '600'],
          },
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Shows');
  t.equal(answer.status, 200, answer.text);
  t.match(await readFile(file, 'utf8'), '<PostgresHost>127.0.0.1</PostgresHost>\n  <PostgresMainDb>a</PostgresMainDb>');
});
