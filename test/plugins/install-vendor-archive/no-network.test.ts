// A vendor that cannot be reached: the message for people, and no fault of a plugin.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

t.test('a start without a network is refused with a sentence, and is no fault of a plugin', async t => {
  const dir = testDir(t, {});
  // The template installs there, and the directory is created before any request.
  const place = '/opt/sonarr';
  const isThere = existsSync(place);
  t.teardown(() => {
    if (!isThere) rmSync(place, { recursive: true, force: true });
  });
  const nobody = 'http://127.0.0.1:9';
  const app = await startHost({
    plugins: ['process', 'host-plugins', 'install-vendor-archive'],
    config: {
      dumb: { install_mirrors: { 'services.sonarr.tv': nobody, 'sonarr.servarr.com': nobody } },
      sonarr: {
        instances: { Default: { process_name: 'Sonarr', enabled: false, config_dir: path.join(dir, 'sonarr') } },
      },
    },
  });
  t.teardown(() => app.stop());
  const { status, body } = await app.post('/process/start-service', { process_name: 'Sonarr' });
  t.equal(status, 502);
  t.match(
    body.detail,
    /^Sonarr cannot be installed: services\.sonarr\.tv cannot be asked \(ECONNREFUSED\); check the network, its proxy/,
  );
  const plugins: { name: string; errors: object }[] = (await app.get('/host/plugins')).body.plugins;
  const blamed = plugins.filter(({ errors }) => Object.keys(errors).length > 0).map(({ name }) => name);
  t.same(blamed, []);
});
