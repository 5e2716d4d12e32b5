// A block that is renamed in the file: the old and the new service never run at once, whoever requests a start.
import { readFile, writeFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, lives, pidOf, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

/** `POST /hold` holds Kid until `POST /release`, which restarts it first. */
const HOLDER = `export default { name: 'holder', host: '^1', needs: ['process'], setup (host) {
  let release
  host.route({ method: 'POST', path: '/hold', summary: 'x', handle () {
    void host.use('process.supervisor').hold('Kid', 'it is moved', async held => {
      await new Promise(resolve => { release = resolve })
      await held.stop()
      await held.start()
    }).catch(() => {})
    return {}
  } })
  host.route({ method: 'POST', path: '/release', summary: 'x', handle () { release(); return {} } })
} }`;

async function startWith(t: Test, habit: string) {
  const block = kid('Kid', [habit], { enabled: true, stop_grace_seconds: 3 });
  const app = await startHost({
    configDir: testDir(t, { plugins: { holder: { 'index.mjs': HOLDER } } }),
    config: { kid: block },
    plugins: ['process', 'config', 'holder'],
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Kid')).status === 'running');
  const rename = async (processName: string, more: object = {}): Promise<void> => {
    const root = JSON.parse(await readFile(app.host.configFile, 'utf8'));
    Object.assign(root.kid, { process_name: processName, ...more });
    await writeFile(app.host.configFile, JSON.stringify(root));
    await until(async () => (await status(app, processName)).status !== undefined);
  };
  return { app, rename, former: await pidOf(app, 'Kid') };
}

const WAITS = /Waiting for the end of Kid, which had its entry before/;

t.test('an immediate start waits for the end of the old service', async t => {
  const { app, rename, former } = await startWith(t, 'ignore-term');
  await rename('Renamed', { enabled: false });
  t.ok(lives(former), 'it takes its time');
  const started = start(app, 'Renamed');
  await until(async () => WAITS.test((await status(app, 'Renamed')).health_reason), { what: 'the reason to be told' });
  t.match(await started, { status: 200 });
  t.notOk(lives(former));
  t.ok(lives(await pidOf(app, 'Renamed')));
});

t.test(
  'while it is held under its former name it waits for the end of the hold, and of what its holder starts',
  async t => {
    const { app, rename, former } = await startWith(t, 'calm');
    await app.post('/hold');
    await until(async () => (await status(app, 'Kid')).held !== null);
    await rename('Renamed');
    await until(async () => WAITS.test((await status(app, 'Renamed')).health_reason), {
      what: 'the reason to be told',
    });
    t.ok(lives(former), 'its holder is in control');
    t.match(await stop(app, 'Renamed'), { status: 200 }, 'whoever waits may be stopped');
    const started = start(app, 'Renamed');
    await app.post('/release');
    t.match(await started, { status: 200 });
    t.notOk(lives(former));
    const state = JSON.parse(await readFile(`${app.configDir}/supervisor/state.json`, 'utf8'));
    t.strictSame(Object.keys(state.processes), ['Renamed']);
  },
);
