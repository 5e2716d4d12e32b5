// The web interface of the proxy: its command without a standalone server, and variables that follow others.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-traefik', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('without a standalone server another command is used, and hosts are only added', { skip }, async t => {
  const dir = testDir(t, { 'package.json': '{}' });
  await chmod(dir, 0o777);
  const pnpm = path.join(dir, 'bin/pnpm');
  await noting(pnpm);
  const port = await freePort();
  // As often as the hosts and the added ones together.
  const twice = 'kept.example.org,kept.example.org, kept.example.org';
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-traefik', 'service-postgres'],
    config: {
      traefik: { port: 18_200 },
      authelia: {
        enabled: true,
        public_url: 'https://sign-on.example.org/',
        process_name: 'Portal',
        wait_for_tcp: [],
        command: ['false'],
      },
      traefik_proxy_admin: {
        process_name: 'Console',
        wait_for_tcp: [],
        port,
        config_dir: dir,
        env: { PATH: `${dir}/bin:${process.env.PATH}`, SSO_ENDPOINT_ALLOW_HOSTS: twice },
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Console');
  t.equal(answer.status, 200, answer.text);
  const { args, env } = await seenBy(pnpm);
  t.same(args, ['exec', 'next', 'start', '-H', '0.0.0.0', '-p', String(port)]);
  const hosts = 'kept.example.org,sign-on.example.org,127.0.0.1';
  t.match(env, {
    PORT: String(port),
    TRAEFIK_API_URL: 'http://127.0.0.1:18201',
    NODE_ENV: 'production',
    SSO_ENDPOINT_ALLOW_HOSTS: hosts,
  });
  const saved = JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));
  t.equal(saved.traefik_proxy_admin.env.SSO_ENDPOINT_ALLOW_HOSTS, hosts);

  const server = path.join(dir, '.next/standalone/server.js');
  await mkdir(path.dirname(server), { recursive: true });
  await writeFile(server, `require('fs').writeFileSync('${dir}/server', 'ran'); setInterval(() => {}, 1e6)`);
  t.equal((await restart(app, 'Console')).status, 200);
  t.equal(await until(() => readFile(path.join(dir, 'server'), 'utf8')), 'ran', 'the built server comes first');
});
