// Keys of a service with its own user that cannot be changed while authentication is off: marked keys, and keys that no
// schema describes.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { TestHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const SHIPPED = ['config', 'process', 'services', 'setup', 'installs', 'env-files', 'readiness'];
const PROBE = { exec: ['id'] };
/** Marked keys, by the plugin that marks them. */
const DECIDING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  process: {
    user: 'bin',
    command: ['id'],
    config_dir: '/srv',
    config_file: '/srv/app.conf',
    env: { PATH: '/srv' },
    env_copy: { source: '/a', destination: '/b' },
    env_passthrough: ['HOME'],
    stdin: true,
    repo_owner: 'somebody',
    repo_name: 'something',
  },
  'env-files': { env_file: '/srv/env' },
  readiness: { readiness: PROBE, liveness: PROBE },
  installs: {
    branch: 'main',
    branch_enabled: true,
    commit_sha: 'a'.repeat(40),
    release_version: 'v1',
    release_version_enabled: true,
    pinned_version: '1.0',
  },
};
/** The first key is marked itself, the second has a marked member, and the third has none. */
const LAUNCHER = `
  const { z } = host
  host.contribute('config.block', 'launcher', { schema: z.looseObject({
    launcher: z.string().optional().meta({ decidesProgram: true }),
    hooks: z.array(z.union([z.string(), z.looseObject({ run: z.string().meta({ decidesProgram: true }) })])).optional(),
    colour: z.string().optional(),
  }) })`;

const blocks = () => ({
  own: { enabled: false, process_name: 'Own', command: ['sleep', '{pause}'], user: 'daemon', pause: '600' },
  // An installed kind of service whose template has no option that selects a commit.
  authelia: { enabled: false, process_name: 'Authelia', user: 'daemon' },
  free: { enabled: false, process_name: 'Free', command: ['sleep', '600'] },
});

const change = (app: TestHost, key: string, updates: Readonly<Record<string, unknown>>) =>
  app.post('/config', { updates: { [key]: updates }, persist: false });

t.test('keys that decide which program runs cannot be changed', async t => {
  const app = await startWithPlugins(t, { launcher: LAUNCHER }, { shipped: SHIPPED, config: blocks() });
  for (const [plugin, keys] of Object.entries(DECIDING))
    for (const [key, value] of Object.entries(keys)) {
      for (const [block, name] of Object.entries({ own: 'Own', authelia: 'Authelia' }))
        t.match(
          await change(app, block, { [key]: value }),
          { status: 403, body: { detail: new RegExp(`^${key} of ${name}, which runs as user (daemon|bin), cannot`) } },
          `${key} of ${plugin}`,
        );
      if (key !== 'user') t.equal((await change(app, 'free', { [key]: value })).status, 200, `${key} of ${plugin}`);
    }
  t.equal((await change(app, 'own', { port: 17_777, log_level: 'DEBUG', enabled: false })).status, 200);
});

t.test('marked keys of a third party, or with marked members, cannot be changed', async t => {
  const app = await startWithPlugins(t, { launcher: LAUNCHER }, { shipped: SHIPPED, config: blocks() });
  t.match(await change(app, 'own', { launcher: 'id' }), {
    status: 403,
    body: { detail: /^launcher of Own, which runs/ },
  });
  t.match(await change(app, 'own', { hooks: [{ run: 'id' }] }), { status: 403, body: { detail: /^hooks of Own/ } });
  t.equal((await change(app, 'own', { colour: 'red' })).status, 200);
  t.equal((await change(app, 'free', { launcher: 'id', hooks: [{ run: 'id' }] })).status, 200);
  const { body } = await app.post('/config/process-config/schema', { process_name: 'Own' });
  t.match(body.properties.launcher, { 'x-decidesProgram': true }, 'an editor can tell');
});

t.test('a file that a marked key names cannot be changed', async t => {
  const profiles = `host.contribute('config.block', 'profiles', { schema: host.z.looseObject({
    profile: host.z.string().optional().meta({ decidesProgram: 'files' }), notes: host.z.string().optional() }) })`;
  const app = await startWithPlugins(
    t,
    { profiles },
    { shipped: ['config', 'process', 'config-files', 'format-yaml'] },
  );
  const edit = (service_name: string) => app.post('/config/service-config', { service_name, updates: { name: 2 } });
  const named = async (name: string) => {
    const config_file = path.join(app.configDir, `${name}.yaml`);
    await writeFile(config_file, 'name: 1\n');
    return { enabled: false, process_name: name, command: ['true'], config_dir: app.configDir, config_file };
  };
  const save = async (more: Readonly<Record<string, unknown>>) => {
    const config = path.join(app.configDir, 'stackwarden.json');
    await writeFile(config, JSON.stringify({ ...JSON.parse(await readFile(config, 'utf8')), ...more }));
    const isThere = async () => {
      const { body } = await app.get('/config');
      return Object.keys(more).every(key => body[key] !== undefined);
    };
    await until(isThere, { what: 'the services of the file' });
  };
  await save({ a: await named('A'), b: await named('B') });
  for (const name of ['A', 'B']) t.match(await edit(name), { status: 200 });
  await save({ own: { ...blocks().own, profile: 'A.yaml', notes: 'B.yaml' } });
  t.match(await edit('A'), { status: 403, body: { detail: /A\.yaml belongs to Own, which runs as user daemon/ } });
  t.match(await edit('B'), { status: 200 });
});

t.test('an undescribed key cannot be changed', async t => {
  const app = await startWithPlugins(t, { launcher: LAUNCHER }, { shipped: ['config', 'process'], config: blocks() });
  for (const [key, value] of Object.entries({ env_file: '/srv/env', commit_sha: 'a'.repeat(40), pause: '1; id' }))
    t.match(await change(app, 'own', { [key]: value }), {
      status: 403,
      body: { detail: new RegExp(`^${key} of Own`) },
    });
  t.equal((await change(app, 'free', { env_file: '/srv/env' })).status, 200);
});

t.test('keys that are only marked appear in no schema', async t => {
  const app = await startWithPlugins(t, {}, { shipped: [...SHIPPED, 'dependency-graph'], config: blocks() });
  const { body } = await app.post('/config/process-config/schema', { process_name: 'Free' });
  for (const key of ['branch', 'commit_sha', 'web_port', 'mount_path']) t.notOk(key in body.properties, key);
  const sent = await app.post('/config', { process_name: 'Free', updates: { commit_sha: 'x' }, persist: false });
  t.match(sent, {
    status: 400,
    body: { detail: "'commit_sha' is not a key of Free; GET /config/schema lists its keys" },
  });
  const answer = await change(app, 'free', { commit_sha: 5 });
  t.match(answer, { status: 200, body: { warnings: ['nothing reads free.commit_sha; it is kept as it is'] } });
});
