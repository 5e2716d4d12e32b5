// `/health`: with and without processes, in each phase of a start, and what it shows to strangers.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { HealthReport, ProcessSnapshot, StartupPhase } from '../../../plugins/process/contract.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

interface Situation {
  phase: StartupPhase;
  failures: Record<string, string>;
  processes: (Pick<ProcessSnapshot, 'processName' | 'status' | 'stoppedByUser'> &
    Partial<Pick<ProcessSnapshot, 'enabled' | 'wasReady' | 'held'>> & { health: Partial<HealthReport> })[];
  authentication: boolean;
  broken: boolean;
  /** The revision of the supervisor. */
  revision: number;
  /** How often the processes were read. */
  looks: number;
}

const block = (process_name: string, enabled = true) => ({ enabled, process_name, command: ['true'] });

/** Starts a host whose supervisor is a stand-in of the test. */
async function start(t: Test) {
  const situation: Situation = {
    phase: 'ready',
    failures: {},
    processes: [],
    authentication: false,
    broken: false,
    revision: 0,
    looks: 0,
  };
  const dir = path.join(testDir(t, {}), 'supervisor');
  await mkdir(dir);
  await writeFile(
    path.join(dir, 'index.mjs'),
    `export default {
      name: 'supervisor',
      host: '^1',
      setup(host) {
        const situation = () => globalThis.stackwardenTestSituation;
        host.provide('process.supervisor', {
          get revision() {
            return situation().revision;
          },
          blocks: () => globalThis.stackwardenTestBlocks,
          list() {
            situation().looks += 1;
            return situation().processes.map(process => ({ enabled: true, wasReady: false, held: null, ...process }));
          },
          health: name => ({ status: null, reason: null, ...situation().processes.find(p => p.processName === name).health }),
          startup() {
            if (situation().broken) throw new Error('no answer');
            return { phase: situation().phase, failures: situation().failures, expectedServices: ['One', 'Two'] };
          },
        });
        host.provide('access', {
          enabled: () => situation().authentication,
          check({ authorization }) {
            if (situation().authentication && authorization !== 'Bearer good') throw new host.Problem(401, 'Authentication required');
            return { username: null };
          },
        });
      },
    };`,
  );
  Object.assign(globalThis, { stackwardenTestSituation: situation, stackwardenTestBlocks: [] });
  const host = await startHost({
    plugins: ['health', 'supervisor'],
    pluginDirs: [pluginsDir, path.dirname(dir)],
    config: { one: block('One'), two: block('Two'), off: block('Off', false) },
  });
  t.teardown(() => host.stop());
  const ask = async (change: Partial<Situation>, headers?: Record<string, string>) => {
    Object.assign(situation, { failures: {}, processes: [], revision: situation.revision + 1 }, change);
    return host.get('/health', headers);
  };
  return { ask, situation, host };
}

t.test('a host without processes is healthy', async t => {
  const host = await startHost({ plugins: ['health'] });
  t.teardown(() => host.stop());
  t.match(await host.get('/health'), { status: 200, body: { status: 'healthy', phase: 'ready' } });
  t.equal((await host.get('/health/')).status, 200);
});

t.test('a host with an unreadable configuration is unhealthy', async t => {
  const host = await startHost({ plugins: ['health'], configDir: testDir(t, { 'stackwarden.json': '{"dumb":' }) });
  t.teardown(() => host.stop());
  const { status, body } = await host.get('/health');
  t.match({ status, body }, { status: 200, body: { status: 'unhealthy', details: /stackwarden\.json/ } });
});

t.test('a configuration that becomes unreadable makes a host unhealthy', async t => {
  const host = await startHost({ plugins: ['health'], config: {} });
  t.teardown(() => host.stop());
  const file = path.join(host.configDir, 'stackwarden.json');
  const good = await readFile(file, 'utf8');
  const health = async () => (await host.get('/health')).body;
  t.same(await health(), { status: 'healthy', phase: 'ready' });
  for (const round of ['once', 'and once more']) {
    await writeFile(file, `{"dumb":`);
    const told = {
      status: 'healthy',
      details: /^mend the configuration file, whose last change is not used: .*:1:\d+: /,
    };
    await until(async () => 'details' in (await health()), { what: `the fault, ${round}` });
    t.match(await health(), told, 'what runs is well');
    await writeFile(file, good);
    await until(async () => !('details' in (await health())), { what: `the end of the fault, ${round}` });
  }
  const log = await ownLog(host);
  t.equal(log.match(/is not used: .*; what it held before counts until it is mended/g)?.length, 2, 'told each time');
  t.equal(log.match(/the configuration file is as it was before, and is used/g)?.length, 2);
});

t.test('the health of a host follows from its processes', async t => {
  const { ask } = await start(t);
  const running = { status: 'running', stoppedByUser: false } as const;
  const well = { ...running, health: { status: 'healthy' } } as const;
  const unwell = { ...running, health: { status: 'unhealthy', reason: 'Port 127.0.0.1:1 not responding' } } as const;
  const stopped = { status: 'stopped', health: { status: 'unhealthy', reason: 'Exited with code 1' } } as const;
  const one = 'One: Port 127.0.0.1:1 not responding';

  for (const phase of ['initializing', 'preinstalling', 'starting_services', 'stabilizing'] as const) {
    const { body } = await ask({ phase, processes: [{ processName: 'One', ...unwell }] });
    t.same(body, { status: 'healthy', phase }, `${phase} checks nothing`);
  }
  t.match((await ask({ phase: 'shutting_down' })).body, { status: 'unhealthy', phase: 'shutting_down' });

  for (const [what, change, details] of [
    ['all well', { processes: [{ processName: 'One', ...well }] }, undefined],
    [
      'degraded counts as well',
      { processes: [{ processName: 'One', ...running, health: { status: 'degraded' } }] },
      undefined,
    ],
    [
      'one unwell',
      {
        processes: [
          { processName: 'One', ...unwell },
          { processName: 'Two', ...well },
        ],
      },
      one,
    ],
    [
      'ended by itself',
      { processes: [{ processName: 'One', ...stopped, stoppedByUser: false }] },
      'One: Exited with code 1',
    ],
    ['stopped by a user', { processes: [{ processName: 'One', ...stopped, stoppedByUser: true }] }, undefined],
    ['disabled', { processes: [{ processName: 'Two', ...stopped, stoppedByUser: false, enabled: false }] }, undefined],
    ['started by hand, never well', { processes: [{ processName: 'Off', ...unwell }] }, undefined],
    [
      'started by hand, well once',
      { processes: [{ processName: 'Off', ...unwell, wasReady: true }] },
      'Off: Port 127.0.0.1:1 not responding',
    ],
    [
      'held by somebody who works on it',
      { processes: [{ processName: 'One', ...unwell, held: { reason: 'x', since: 1 } }] },
      undefined,
    ],
    ['failed at boot', { failures: { One: 'not ready in time' } }, 'One: not ready in time'],
    ['said once', { processes: [{ processName: 'One', ...unwell }], failures: { One: 'not ready in time' } }, one],
    [
      'ready since',
      { processes: [{ processName: 'One', ...well }], failures: { One: 'not ready in time' } },
      undefined,
    ],
    ['secrets', { failures: { One: 'refused password=hunter2' } }, 'One: refused password=[REDACTED]'],
  ] as [string, Partial<Situation>, string | undefined][]) {
    const { status, body } = await ask({ phase: 'degraded', ...change });
    t.equal(status, 200);
    const expected = details === undefined ? { status: 'healthy' } : { status: 'unhealthy', details };
    t.same(body, { ...expected, phase: 'degraded' }, what);
  }

  const { body: long } = await ask({ failures: { One: `many\nwords ${'x'.repeat(400)}` } });
  t.equal(long.details.length, 200);
  t.match(long.details, /^One: many words x+…$/);

  const failures = { One: 'a', Two: 'b' };
  const stranger = await ask({ phase: 'degraded', failures, authentication: true });
  t.match(stranger, { status: 200, body: { status: 'unhealthy', details: '2 checks failed', phase: 'degraded' } });
  t.equal((await ask({ failures: { One: 'a' } })).body.details, '1 check failed');
  t.equal((await ask({ failures }, { authorization: 'Bearer good' })).body.details, 'One: a; Two: b');
  t.equal((await ask({ failures }, { authorization: 'Bearer bad' })).body.details, '2 checks failed');

  const broken = await ask({ broken: true });
  t.match(broken, { status: 500, body: { detail: 'Failed to run health check. Please try again.' } });
});

t.test('processes are read once for each change of their states', async t => {
  const { ask, situation, host } = await start(t);
  const well = { processName: 'One', status: 'running', stoppedByUser: false, health: { status: 'healthy' } } as const;
  await ask({ processes: [well] });
  situation.looks = 0;
  for (let count = 0; count < 5; count += 1) t.equal((await host.get('/health')).body.status, 'healthy');
  t.equal(situation.looks, 0, 'nothing changed');

  const unwell = { ...well, health: { status: 'unhealthy', reason: 'gone' } } as const;
  t.equal((await ask({ processes: [unwell] })).body.details, 'One: gone');
  t.equal(situation.looks, 1);
  Object.assign(globalThis, { stackwardenTestBlocks: [] });
  situation.processes = [well];
  t.equal((await host.get('/health')).body.status, 'healthy', 'another configuration');
});

t.test('notes of plugins are shown to users only, and a failing plugin has none', async t => {
  const note = (text: string) => `host.contribute('health.note', host.name, { text: () => ${text} })`;
  const app = await startWithPlugins(
    t,
    {
      keeper: note('globalThis.fixtureNote'),
      failing: note("{ throw new Error('no') }"),
      stranger: `host.provide('access', { enabled: () => true, check({ authorization }) {
        if (authorization !== 'Bearer good') throw new host.Problem(401, 'Authentication required')
        return { username: null }
      } })`,
    },
    { shipped: ['health'] },
  );
  const fixture = globalThis as { fixtureNote?: string | null };
  t.teardown(() => {
    delete fixture.fixtureNote;
  });
  const good = { authorization: 'Bearer good' };
  for (const text of ['tapes are not kept: the store is full', null, 'tapes are not kept: it is read-only']) {
    fixture.fixtureNote = text;
    const details = text === null ? {} : { details: text };
    t.same((await app.get('/health', good)).body, { status: 'healthy', phase: 'ready', ...details });
    t.same((await app.get('/health')).body, { status: 'healthy', phase: 'ready' });
  }
});
