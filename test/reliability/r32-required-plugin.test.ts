// R32: a required plugin fails while the host runs: supervision is back with the same processes, or the host ends with
// 70 and the next start goes on with them.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { lookAround } from '../../plugins/process/supervise/proc-table.ts';
import { testDir } from '../support/directory.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { moduleOfHost } from '../support/host-program.ts';
import { kid, lives } from '../support/kids.ts';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const shipped = moduleOfHost('plugins/process/index.ts');
/** Process control and what tells of it. */
const plugins = ['config', 'process', 'health', 'health-probe', 'auto-restart', 'host-plugins'];
const deadlines = { importMs: 60_000, setupMs: 60_000 };

/** Process control as it is shipped, that fails when it is told to, and cannot be set up while a file is there. */
const failing = (flag: string) => `import { existsSync } from 'node:fs'
import shipped from ${JSON.stringify(pathToFileURL(shipped).href)}
export default { ...shipped, setup (host, config) {
  if (existsSync(${JSON.stringify(flag)})) throw new Error('still broken')
  host.route({ method: 'POST', path: '/fail', summary: 'x',
    handle: () => { setTimeout(() => { throw new Error('process fault') }); return {} } })
  return shipped.setup(host, config)
} }`;

async function prepare(t: Parameters<typeof testDir>[0]) {
  const configDir = testDir(t, {});
  const flag = path.join(configDir, 'broken');
  const port = await writeConfig(configDir, {
    kid: kid('Kid', ['calm'], { enabled: true }),
    dumb: { plugins: { override: ['process'] } },
  });
  await mkdir(path.join(configDir, 'plugins', 'process'), { recursive: true });
  await writeFile(path.join(configDir, 'plugins', 'process', 'index.js'), failing(flag));
  return { configDir, flag, port };
}

const pidOf = async (configDir: string): Promise<number> =>
  JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')).processes.Kid?.pid;

const status = async (host: HostProcess) =>
  (await host.json('/process/service-status?process_name=Kid')) as { status?: string };

t.test('it is set up again, health names it meanwhile, and supervision goes on with what runs', async t => {
  const { configDir, flag, port } = await prepare(t);
  const host = await startHostProcess(port, { configDir, plugins, deadlines, recoveryPausesMs: Array(600).fill(100) });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  await until(async () => (await status(host)).status === 'running');
  const pid = await pidOf(configDir);

  await writeFile(flag, '');
  await host.json('/fail', { method: 'POST' });
  const health = await until(async () => {
    const answer = (await host.json('/health')) as { status: string; details: string };
    return answer.status === 'unhealthy' && answer.details.includes('plugin process') ? answer : undefined;
  });
  t.match(health.details, /the required plugin process is failed: (uncaught error: process fault|still broken)/);
  t.ok(lives(pid), 'what it supervised runs on');
  await until(() => host.output().includes('still broken (index.js:4)'), { what: 'file and line in the log' });

  await rm(flag);
  await until(async () => (await status(host)).status === 'running');
  t.equal(await pidOf(configDir), pid, 'the same process');
  t.equal(lookAround().processes.filter(({ pgid }) => pgid === pid).length, 1);
  await until(async () => ((await host.json('/health')) as { status: string }).status === 'healthy');
  process.kill(pid, 'SIGTERM');
  // As the boot may not have come to its turn yet, it may be started again.
  await until(() => host.output().includes('Kid stopped unexpectedly'), { what: 'its end to be noticed' });
});

t.test('where nothing brings it back the host ends with 70, and the next start adopts', async t => {
  const { configDir, flag, port } = await prepare(t);
  const host = await startHostProcess(port, { configDir, plugins, deadlines, recoveryPausesMs: [50, 50] });
  await until(async () => (await status(host)).status === 'running');
  const pid = await pidOf(configDir);
  t.teardown(() => {
    if (lives(pid)) process.kill(pid, 'SIGKILL');
  });
  await writeFile(flag, '');
  await host.json('/fail', { method: 'POST' });
  t.equal(await host.exited, 70);
  t.match(host.output(), /the required plugin process cannot be brought back, so the host ends: still broken/);
  t.ok(lives(pid), 'what it supervised runs on');

  await rm(flag);
  const next = await startHostProcess(port, { configDir, plugins, deadlines });
  t.teardown(async () => {
    next.child.kill('SIGTERM');
    await next.exited;
  });
  await until(async () => (await status(next)).status === 'running');
  t.equal(await pidOf(configDir), pid, 'the same process');
});

t.test('what it needs is set up again for it', async t => {
  const configDir = testDir(t, {
    plugins: {
      needed: {
        'index.js': `let loads = 0
          export default { name: 'needed', host: '^1', setup (host) {
            loads += 1
            host.route({ method: 'GET', path: '/loads', summary: 'x', handle: () => ({ loads }) })
            host.route({ method: 'POST', path: '/fail', summary: 'x', handle () { setTimeout(() => { throw new Error('fault') }) } })
          } }`,
      },
      leader: {
        'index.js': `export default { name: 'leader', host: '^1', needs: ['needed'], setup (host) {
          host.route({ method: 'GET', path: '/leader', summary: 'x', handle: () => ({}) })
        } }`,
      },
    },
  });
  const port = await writeConfig(configDir, { dumb: { plugins: { required: ['leader'] } } });
  const host = await startHostProcess(port, {
    configDir,
    plugins: ['host-plugins', 'needed', 'leader'],
    deadlines,
    recoveryPausesMs: Array(600).fill(50),
  });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  await host.json('/fail', { method: 'POST' });
  await until(async () => ((await host.json('/loads')) as { loads?: number }).loads === 2);
  await until(async () => (await fetch(`${host.base}/leader`)).ok);
});
