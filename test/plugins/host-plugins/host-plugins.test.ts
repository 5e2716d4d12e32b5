// The list of plugins: what each registered, and why one is not there.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';

const skip = !existsSync(path.join(pluginsDir, 'host-plugins'));

t.test('every plugin that was found', { skip }, async t => {
  const configDir = testDir(t, {});
  const folder = path.join(configDir, 'plugins', 'broken');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    "export default { name: 'broken', host: '^1', setup() { throw new Error('it has no parts') } };\n",
  );
  const app = await startHost({ configDir, config: {}, plugins: ['config', 'host-plugins', 'broken'] });
  t.teardown(() => app.stop());
  const { plugins } = (await app.get('/host/plugins')).body;
  const row = (name: string) => plugins.find((plugin: { name: string }) => plugin.name === name);
  t.match(row('host-plugins'), { state: 'ready', routes: ['GET /host/plugins'], errors: {} });
  t.match(row('broken'), { state: 'failed', reason: /it has no parts/ });
  t.match(row('gateway'), { state: 'disabled' });
});
