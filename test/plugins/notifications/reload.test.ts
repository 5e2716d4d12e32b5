// The plugin, or one that a destination needs, is unloaded and loaded during deliveries: no message is lost, and
// reached targets get none twice.
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { moduleOfHost } from '../../support/host-program.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

const PLUGIN = pathToFileURL(path.join(pluginsDir, 'notifications', 'index.ts')).href;
/** The thread of a database comes from the build of the test run, where it has no loader for TypeScript. */
const STATEMENTS = pathToFileURL(moduleOfHost('plugins/notifications/queue-statements.ts')).href;

/** A third party's plugins: one emits events, one contributes a type of destination and needs another one. */
const OWN = {
  bell: `export default { name: 'bell', host: '^1', setup (host) {
    host.event('bell.rang', { description: 'The bell rang' })
    host.contribute('notifications.event', 'bell.rang', {
      severity: 'critical', duringStartup: true, describe: title => ({ title, body: '' }),
    })
    globalThis.ringWhileReloaded = title => host.emit('bell.rang', title)
  } }`,
  // The product's plugins, in folders that can be changed.
  notifications: `export { default } from ${JSON.stringify(PLUGIN)}`,
  rope: `export default { name: 'rope', host: '^1', setup () {} }`,
  chime: `export default { name: 'chime', host: '^1', needs: ['rope', 'notifications'], setup (host) {
    host.contribute('notifications.destination', 'chime', {
      schemes: ['chime'], example: 'chime://host/path',
      parse: url => url.base() + url.path(),
      send: async (url, message, delivery) => delivery.outcome(await delivery.request(url, { json: message })),
    })
  } }`,
};
const ring = (title: string) =>
  (globalThis as unknown as { ringWhileReloaded(title: string): void }).ringWhileReloaded(title);

t.test('deliveries while plugins are loaded anew', async t => {
  const receiver = await startReceiver(t);
  const at = (scheme: string, where: string) => receiver.url.replace('http', scheme) + where;
  const destinations = [
    { id: 'topics', url: at('ntfy', '/one/two/three') },
    { id: 'hook', provider: 'webhook', url: at('http', '/hook') },
    { id: 'chime', url: at('chime', '/chime') },
  ].map(destination => ({ ...destination, cooldown_sec: 0 }));
  const own = testDir(t, Object.fromEntries(Object.entries(OWN).map(([name, text]) => [name, { 'index.js': text }])));
  const changed = path.join(own, 'notifications', 'index.js');
  await writeFile(
    path.join(own, 'notifications', 'queue-statements.js'),
    `export * from ${JSON.stringify(STATEMENTS)}`,
  );
  const app = await startHost({
    config: {
      dumb: {
        plugins: { override: ['notifications'] },
        notifications: { enabled: true, retry_base_sec: 1, max_attempts: 10, destinations },
      },
    },
    // At this pace an unloading waits as long as it does for users.
    pace: 1,
    pluginDirs: [pluginsDir, own],
    plugins: ['notify-webhook', 'notify-ntfy', 'config', 'host-plugins', ...Object.keys(OWN)],
  });
  t.teardown(() => app.stop());
  const stateOf = async (name: string): Promise<string> =>
    (await app.get('/host/plugins')).body.plugins.find((plugin: { name: string }) => plugin.name === name).state;
  const choose = async (...disabled: string[]) => {
    const { status, text } = await app.post('/config', { updates: { dumb: { plugins: { disabled } } } });
    t.equal(status, 200, text);
  };
  const off = async (name: string) => {
    await choose(name);
    await until(async () => (await stateOf(name)) === 'disabled', { what: `${name} to be withdrawn` });
  };
  const on = async () => {
    await choose();
    await until(async () => (await stateOf('chime')) === 'ready', { what: 'all to be back' });
  };
  const use = async (id: string) => {
    const config = { destinations: destinations.map(each => ({ ...each, enabled: each.id === id })) };
    t.equal((await app.post('/notifications/config', { config })).status, 200);
  };
  const rowOf = async (title: string, status: string) =>
    until(
      async () => {
        const { items = [] } = (await app.get('/notifications/history?limit=500')).body;
        return items.find((row: { title: string; status: string }) => row.title === title && row.status === status);
      },
      { what: `${title} to be ${status}` },
    );

  await t.test('a target that was reached before gets no second message', async t => {
    await use('topics');
    const asked: string[] = [];
    let isSilent = true;
    receiver.answer = ({ body: { topic } }, response) => {
      asked.push(topic);
      if (topic !== 'two' || !isSilent) response.end('{}');
    };
    ring('to three');
    await until(() => asked.length === 2);
    await off('notifications');
    isSilent = false;
    await on();
    t.match(await rowOf('to three', 'completed'), { attempts: 1 }, 'what was cut off is not counted');
    t.same(asked, ['one', 'two', 'two', 'three']);
  });

  await t.test('an answer during the unloading counts', async t => {
    await use('hook');
    const before = receiver.received.length;
    let answer = (): void => undefined;
    receiver.answer = (_, response) => {
      answer = () => void response.end();
    };
    ring('in the air');
    await until(() => receiver.received.length > before);
    const withdrawn = off('notifications');
    await until(async () => (await stateOf('notify-webhook')) === 'skipped', { what: 'the withdrawal to begin' });
    answer();
    await withdrawn;
    await on();
    t.match(await rowOf('in the air', 'completed'), { attempts: 1 });
    t.equal(receiver.received.length, before + 1);
  });

  await t.test('an event while the plugin is unloaded', async t => {
    await use('hook');
    const before = receiver.received.length;
    let answer = (): void => undefined;
    receiver.answer = (_, response) => {
      answer = () => void response.end();
    };
    ring('before');
    await until(() => receiver.received.length > before);
    await appendFile(changed, '\n');
    await until(async () => (await stateOf('chime')) === 'skipped', { what: 'the withdrawal to begin' });
    ring('meanwhile');
    receiver.answer = (_, response) => void response.end();
    answer();
    await rowOf('before', 'completed');
    t.match(await rowOf('meanwhile', 'completed'), { attempts: 1 });
    t.equal(receiver.received.length, before + 2);
  });

  await t.test('messages wait for a type of destination that is missing for a while', async t => {
    receiver.answer = (_, response) => void response.end();
    await use('chime');
    await off('rope');
    t.equal(await stateOf('chime'), 'skipped');
    ring('patience');
    t.match(await rowOf('patience', 'retrying'), { error: /^Unsupported notification service 'chime'/ });
    await on();
    await rowOf('patience', 'completed');
    t.equal(receiver.at('/chime').length, 1);
    await off('chime');
    ring('for good');
    t.match(await rowOf('for good', 'failed'), { attempts: 0 }, 'one that nobody has fails at once');
  });
});
