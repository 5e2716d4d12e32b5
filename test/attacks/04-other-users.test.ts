// Line 4: while nobody must log in, a caller runs and leads no program as a user of his choice.
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { asOwner, startHost } from '../support/host.ts';
import { ROOT_ONLY } from '../support/race.ts';

const PLUGINS = ['auth', 'config', 'process', 'services', 'config-files', 'format-yaml', 'format-conf', 'env-files'];
const evil = { process_name: 'Evil', command: ['id'], user: 'daemon' };
const hidden: Record<string, object> = {
  'at the root': evil,
  'in another block': { process_name: 'Made', command: ['true'], inner: evil },
  'deep in another': { process_name: 'Made', command: ['true'], one: { two: evil } },
  'among instances': { process_name: 'Made', command: ['true'], instances: { one: evil } },
  'below an instance': { process_name: 'Made', command: ['true'], instances: { one: { inner: evil } } },
};

t.test('no block with a user of its own is added, wherever it stands', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { app: { process_name: 'App', command: ['true'] } } });
  t.teardown(() => app.stop());
  for (const [where, made] of Object.entries(hidden))
    for (const updates of [{ made }, { app: { made } }]) {
      const answer = await app.post('/config', { updates });
      t.match(answer, { status: 403, body: { detail: /of Evil, which runs as user daemon, cannot/ } }, where);
    }
  t.notMatch(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'), 'Evil');
});

t.test('what a program of another user reads is not changed', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-users-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  const at = (...parts: string[]) => path.join(dir, ...parts);
  const configDir = at('config');
  const files = ['own/a.yaml', 'own/deep/b.yaml', 'config/services/keeper/c.yaml', 'config/d.conf', 'config/e.conf'];
  for (const file of [...files, 'config/free.yaml']) {
    await mkdir(path.dirname(at(file)), { recursive: true });
    await writeFile(at(file), file.endsWith('.yaml') ? 'name: 1\n' : 'name=1\n');
  }
  await symlink(at('own'), at('config/way'));
  const app = await startHost({
    plugins: PLUGINS,
    configDir,
    config: {
      keeper: { process_name: 'Keeper', command: ['cat', at('config/e.conf')], user: 'daemon', env_file: 'd.conf' },
      owner: {
        process_name: 'Owner',
        command: ['cat'],
        user: 'daemon',
        config_dir: at('own'),
        config_file: at('own/a.yaml'),
      },
      ...Object.fromEntries(
        [...files, 'config/free.yaml', 'config/way/a.yaml'].map(file => [
          file.replaceAll(/\W/g, '_'),
          { process_name: file, command: ['true'], config_dir: at('own'), config_file: at(file) },
        ]),
      ),
    },
  });
  t.teardown(() => app.stop());
  const change = (service_name: string, by = app) =>
    by.post('/config/service-config', { service_name, updates: { name: 2 } });
  for (const name of ['Owner', ...files, 'config/way/a.yaml']) {
    const { status, body } = await change(name);
    t.equal(status, 403, `${name}: ${JSON.stringify(body)}`);
    t.match(body.detail, /which runs as user daemon, and cannot be changed while authentication is off; switch it on/);
    t.equal((await app.post('/config/service-config', { service_name: name })).status, 200, 'it may be read');
  }
  for (const file of files) t.match(await readFile(at(file), 'utf8'), /1/);
  const free = await change('config/free.yaml');
  t.equal(free.status, 200, free.text);
  const input = await app.post('/config', { process_name: 'Owner', updates: { stdin: true } });
  t.match(input, { status: 403, body: { detail: /^stdin of Owner, which runs as user daemon/ } });

  const owner = await asOwner(app);
  const answer = await change('Owner', owner);
  t.equal(answer.status, 200, answer.text);
});
