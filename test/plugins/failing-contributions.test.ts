// When one of several contributions to a point fails, the others work as if it were absent.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { asOwner } from '../support/host.ts';
import { kid } from '../support/kids.ts';
import { startWithPlugins } from '../support/own-plugins.ts';

t.test('a format that fails to recognize files does not affect others', async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-formats-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  const file = path.join(dir, 'kid.yaml');
  await writeFile(file, 'port: 1\n');
  await chmod(file, 0o666);
  const odd = `const odd = () => { throw new Error('cannot tell') }
    host.contribute('config.format', 'odd', {
      name: 'odd', extensions: ['.yaml'], matches: odd, parse: odd, edit: odd, readUpdate: odd,
    })`;
  const open = await startWithPlugins(
    t,
    { odd },
    {
      shipped: ['auth', 'config', 'process', 'config-files', 'format-yaml'],
      config: { kid: kid('Kid', ['calm'], { config_dir: dir, config_file: file }) },
    },
  );
  const app = await asOwner(open);
  const saved = await app.post('/config/service-config', { service_name: 'Kid', updates: { port: 2 } });
  t.equal(saved.status, 200, saved.text);
  t.equal(await readFile(file, 'utf8'), 'port: 2\n');
  const errorsOf = (name: string) => open.host.plugins().find(plugin => plugin.name === name)?.errors;
  t.match(errorsOf('odd'), { contribution: Number });
  t.same(errorsOf('config-files'), {});
});

t.test('a type of event whose check fails does not affect others', async t => {
  const app = await startWithPlugins(
    t,
    {
      bell: `host.event('bell.rang', { description: 'The bell rang' })
        host.contribute('notifications.event', 'bell.rang', {
          severity: 'info', describe: () => ({ title: 'x', body: '' }), isPossible: () => { throw new Error('cannot tell') },
        })`,
    },
    { shipped: ['config', 'process', 'notifications'] },
  );
  const { status, body } = await app.get('/notifications/events');
  t.equal(status, 200);
  t.ok(body.event_types.includes('bell.rang') && body.event_types.includes('service.start.failed'));
});
