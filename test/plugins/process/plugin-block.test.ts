// A plugin that is loaded while the host runs, with defaults that turn a part of the file into a service: it is listed
// at once, and started if the file enables it and no user had stopped it.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const GIVER = `export default { name: 'giver', host: '^1', setup (host) {
  const { z } = host
  host.contribute('config.schema', 'giver', { path: ['given'], schema: z.looseObject({
    enabled: z.boolean().default(false),
    process_name: z.string().default('Given'),
    command: z.array(z.string()).default(['sleep', '600']),
    suppress_logging: z.boolean().default(true),
    stop_grace_seconds: z.number().default(1),
  }) })
} }`;

const becomes = (app: TestHost, state: string | undefined) =>
  until(async () => (await status(app, 'Given')).status === state, { what: `the service to be ${state}` });

for (const enabled of [true, false]) {
  t.test(`the file has enabled: ${enabled}`, async t => {
    const place = testDir(t, { plugins: {} });
    const folder = path.join(place, 'plugins', 'giver');
    const come = async (): Promise<void> => {
      await mkdir(folder);
      await writeFile(path.join(folder, 'index.mjs'), GIVER);
    };
    const app = await startHost({
      config: { given: { enabled } },
      pluginDirs: [pluginsDir, path.dirname(folder)],
      plugins: ['config', 'process', 'giver'],
    });
    t.teardown(() => app.stop());
    t.equal((await status(app, 'Given')).status, undefined);
    await come();
    await becomes(app, enabled ? 'running' : 'stopped');
    t.match(await start(app, 'Given'), { status: 200 });
    await stop(app, 'Given');
    await rm(folder, { recursive: true });
    await until(async () => (await app.get('/process?process_name=Given')).status === 404);
    await come();
    await becomes(app, 'stopped');
    t.match(await start(app, 'Given'), { status: 200 }, 'it is a service as before');
  });
}
