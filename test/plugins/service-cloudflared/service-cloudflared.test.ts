// The token of Cloudflared: where it is found, and that it is passed only in a variable.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { until } from '../../support/until.ts';
import { openVendors } from '../../support/vendors.ts';

const skip = !['service-cloudflared', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));
const shipped = new URL('../../../templates/services/cloudflared.json', import.meta.url);

t.test('the token comes from its option, a variable or a file', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } }, secrets: {} });
  await chmod(dir, 0o755);
  const template = JSON.parse(await readFile(shipped, 'utf8'));
  const secretsDir = path.join(dir, 'secrets');
  await writeFile(
    path.join(dir, 'host/templates/services/cloudflared.json'),
    JSON.stringify({ ...template, facts: { ...template.facts, secretsDir } }),
  );
  const program = path.join(dir, 'cloudflared/cloudflared');
  await noting(program);
  await mkdir(path.join(dir, 'run'));
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['config', 'process', 'services', 'setup', 'service-cloudflared', 'logs'],
    config: {
      cloudflared: { process_name: 'Tunnel', config_dir: path.join(dir, 'run'), command: [program, 'tunnel', 'run'] },
    },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Tunnel'), {
    status: 400,
    body: { detail: 'Tunnel cannot start: it has no token; set tunnel_token, or TUNNEL_TOKEN in its env' },
  });
  const token = async (updates: object): Promise<string | undefined> => {
    await writeFile(`${program}.seen`, '');
    const { status, text } = await app.post('/config', { process_name: 'Tunnel', updates });
    t.equal(status, 200, text);
    const started = await restart(app, 'Tunnel');
    t.equal(started.status, 200, started.text);
    const { args, env } = await seenBy(program);
    t.same(args, ['tunnel', 'run'], 'no argument shows it');
    return env.TUNNEL_TOKEN;
  };
  await writeFile(path.join(secretsDir, 'CF_TUNNEL_TOKEN'), 'of-the-file\n');
  t.equal(await token({ log_level: 'DEBUG' }), 'of-the-file');
  t.equal(await token({ env: { CLOUDFLARED_TUNNEL_TOKEN: 'of-the-block' } }), 'of-the-block');
  t.equal(await token({ tunnel_token: 'of-the-option' }), 'of-the-option');

  await app.post('/config', {
    process_name: 'Tunnel',
    updates: { command: ['/bin/sh', '-c', `exec ${program} "$TUNNEL_TOKEN"`] },
  });
  t.equal((await restart(app, 'Tunnel')).status, 200, 'a wrapper of an earlier release works');
  const log = await until(async () => {
    const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
    return chunk.includes('its command runs a shell') && chunk;
  });
  t.notMatch(log, 'of-the-option', 'and the log has no token');
});

t.test('nothing is downloaded without a token', { skip }, async t => {
  const vendors = await openVendors(t, { 'api.github.com': () => ({ status: 500 }) });
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-cloudflared', 'installs', 'install-github-release'],
    config: {
      dumb: { install_mirrors: vendors.mirrors },
      cloudflared: { process_name: 'Tunnel', config_dir: testDir(t, {}) },
    },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Tunnel'), { status: 400, body: { detail: /^Tunnel cannot start: it has no token/ } });
  t.same(vendors.asked, []);
});
