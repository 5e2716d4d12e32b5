// AIOStreams: its address follows its port, and options that it refuses are reported.
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';

const skip = !['service-aiostreams', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('the address follows the port, and refused options are reported', { skip }, async t => {
  const dir = testDir(t, { run: {} });
  await chmod(dir, 0o755);
  const program = path.join(dir, 'aiostreams');
  await noting(program);
  const port = await freePort();
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-aiostreams'],
    config: { aiostreams: { process_name: 'Streams', config_dir: path.join(dir, 'run'), command: [program], port } },
  });
  t.teardown(() => app.stop());
  const set = async (updates: object): Promise<void> => {
    const { status, text } = await app.post('/config', { process_name: 'Streams', updates });
    t.equal(status, 200, text);
  };
  const detail = 'Streams cannot start: its option auth_password is not set';
  t.match(await start(app, 'Streams'), { status: 400, body: { detail } }, 'it would be open to everybody');
  const refused: [updates: object, reason: RegExp][] = [
    [{ auth_password: 'short' }, /auth_password must have 12 to 256 characters$/],
    [{ auth_password: 'x'.repeat(257) }, /12 to 256/],
    [{ auth_password: 'twelve, letters' }, /must not have commas/],
    [{ auth_password: ' twelve letters' }, /white space at its ends/],
    [{ auth_password: 'twelve letters', auth_username: 'a:b' }, /auth_username must not have/],
    [{ auth_username: 'a'.repeat(129) }, /longer than 128/],
    [{ auth_username: '' }, /auth_username is not set/],
    [{ auth_username: 'admin', base_url: '' }, /base_url is not set/],
    [{ base_url: 'ftp://localhost' }, /base_url is no address/],
    [{ base_url: 'https://a:b@streams.example.org' }, /base_url has a login/],
    [{ base_url: 'https://streams.example.org/?a' }, /base_url has a query/],
    [{ base_url: 'http://streams.example.org' }, /must begin with https/],
    [{ base_url: 'http://[2001:db8::1]:80' }, /must begin with https/],
  ];
  for (const [updates, reason] of refused) {
    await set(updates);
    t.match(await start(app, 'Streams'), { status: 400, body: { detail: reason } });
  }
  const told = async (updates: object): Promise<string | undefined> => {
    await writeFile(`${program}.seen`, '');
    await set(updates);
    const started = await restart(app, 'Streams');
    t.equal(started.status, 200, started.text);
    return (await seenBy(program)).env.BASE_URL;
  };
  for (const address of [
    'https://streams.example.org',
    'http://172.20.0.5:80/',
    'http://nas.local',
    'http://localhost:1/x',
  ])
    t.equal(await told({ base_url: address }), address, 'where its owner publishes it');
  t.equal(await told({ base_url: 'http://localhost:3006' }), `http://localhost:${port}`);
  const shown = async () => (await app.get('/config?process_name=Streams')).body.base_url;
  t.equal(await shown(), `http://localhost:${port}`, 'people see the same');
  t.equal(await told({ base_url: 'http://[::1]:3006/' }), `http://[::1]:${port}/`);
  const env = { AIOSTREAMS_AUTH: 'me:by-hand', BASE_URL: 'http://by.hand' };
  t.equal(await told({ auth_password: '', base_url: '', env }), 'http://by.hand', 'variables of its owner win');
});
