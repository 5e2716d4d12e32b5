// A Plex server before its first start: it is claimed once with the code of its owner, without remains of an earlier
// run.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';

const skip = !['service-plex', 'setup', 'services', 'format-xml'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);
const shipped = new URL('../../../templates/services/plex.json', import.meta.url);

t.test('a claim is exchanged once, and a refused one is reported', { skip }, async t => {
  const asked: { url: string | undefined; client: unknown }[] = [];
  const vendor = createServer(({ method, url, headers }, answer) => {
    asked.push({ url, client: headers['x-plex-client-identifier'] });
    const isGood = method === 'POST' && url?.endsWith('?token=claim-good') === true;
    answer.writeHead(isGood ? 200 : 401).end('<user><authentication-token>the-token</authentication-token></user>');
  }).listen(0, '127.0.0.1');
  t.teardown(() => vendor.close());
  const dir = testDir(t, { host: { templates: { services: {} } }, elsewhere: { 'plexmediaserver.pid': '1' } });
  await chmod(dir, 0o755);
  const template = JSON.parse(await readFile(shipped, 'utf8'));
  const claimUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/api/claim/exchange`;
  await writeFile(
    path.join(dir, 'host/templates/services/plex.json'),
    JSON.stringify({ ...template, facts: { claimUrl } }),
  );
  const home = path.join(dir, 'plex');
  const support = path.join(home, 'Plex Media Server');
  await mkdir(support, { recursive: true });
  for (const place of [home, support]) await chmod(place, 0o777);
  await writeFile(path.join(support, 'plexmediaserver.pid'), '1');
  const file = path.join(support, 'Preferences.xml');
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['config', 'process', 'services', 'setup', 'service-plex', 'config-files', 'format-xml', 'logs'],
    config: {
      plex: {
        process_name: 'Server',
        port: await freePort(),
        config_dir: home,
        config_file: file,
        log_file: path.join(home, 'own.log'),
        friendly_name: 'Living room',
        plex_claim: 'claim-old',
        command: ['sleep', '600'],
      },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Server')).status, 200, 'it runs without an account too');
  t.notOk(existsSync(path.join(support, 'plexmediaserver.pid')), 'what an earlier run left is gone');
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.match(chunk, /Server starts without being claimed; get a new code, .*did not accept the claim code \(401\)/s);
  t.notMatch(chunk, 'claim-old');

  await app.post('/config', { process_name: 'Server', updates: { plex_claim: 'claim-good' } });
  t.equal((await restart(app, 'Server')).status, 200);
  const xml = await readFile(file, 'utf8');
  t.match(xml, 'PlexOnlineToken="the-token"');
  t.match(xml, 'FriendlyName="Living room"');
  const identity = /ProcessedMachineIdentifier="([0-9a-f]{40})"/.exec(xml)?.[1];
  t.equal(asked[1]?.client, identity, 'the server is claimed under the identity that it keeps');
  t.match(xml, /MachineIdentifier="[0-9a-f]{8}-/);
  t.equal((await stat(file)).mode & 0o077, 0, 'others do not read the token');

  t.equal((await restart(app, 'Server')).status, 200);
  t.equal(asked.length, 2, 'a claimed server is not claimed again');

  if (process.getuid?.() !== 0) return;
  await stop(app, 'Server');
  const linked = path.join(dir, 'linked');
  await mkdir(linked);
  await chmod(linked, 0o777);
  await symlink(path.join(dir, 'elsewhere'), path.join(linked, 'Plex Media Server'));
  await app.post('/config', { process_name: 'Server', updates: { config_dir: linked } });
  t.match(await start(app, 'Server'), { status: 409 });
  t.ok(existsSync(path.join(dir, 'elsewhere/plexmediaserver.pid')), 'a link leads to nothing that is removed');
});
