// R31: every kind of thing that a plugin can hand over, with every kind of fault in it: the giver is named, and
// everybody else goes on.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { testDir } from '../support/directory.ts';
import { CELLS, callerPlugin, cellName, cellPlugin, IGNORES_RUBBISH, type Kind } from '../support/fault-plugins.ts';
import { type HostProcess, startHostProcess } from '../support/host-process.ts';
import { kid } from '../support/kids.ts';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

interface Row {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly errors: Record<string, number>;
}

const LIMIT_MS = 300;
/** Kinds whose plugin has a route that lets the fault happen. */
const OWN_ROUTE: readonly Kind[] = [
  'route',
  'job',
  'callback',
  'callback-member',
  'callback-of-instance',
  'callback-to-contribution',
  'hook-argument',
  'answer-member',
  'problem-member',
  'point-answers',
  'hook-schema',
  'thenable',
  'query-schema',
  'body-schema',
  'job-input',
  'job-watcher',
  'job-pinned',
  'log-subscriber',
  'job-signal',
  'lent-signal',
  'update-member',
  'event-member',
  'request-body',
  'own-listener',
  'job-details',
  'statement',
  'rows',
  'migration',
  'child-listener',
  'file-callback',
];
/** Kinds that the caller has a way to call. */
const CALLED_BY_NAME: readonly Kind[] = [
  'contribution',
  'instance',
  'accessor',
  'service',
  'returned',
  'deep-result',
  'map-member',
  'native-subclass',
  'point-flags',
];
const SHIPPED = ['auth', 'config', 'process', 'health', 'host-plugins'];
/** Two that the host cannot do without. */
const REQUIRED = [cellName('route', 'throws-later'), cellName('contribution', 'emits-error')];

const configDir = testDir(t, {});
const write = async (name: string, source: string): Promise<void> => {
  await mkdir(path.join(configDir, 'plugins', name), { recursive: true });
  await writeFile(path.join(configDir, 'plugins', name, 'index.js'), source);
};
for (const [kind, fault] of CELLS) await write(cellName(kind, fault), cellPlugin(kind, fault));
await write('caller', callerPlugin(CELLS));
const port = await writeConfig(configDir, {
  kid: kid('Kid', ['calm'], { enabled: true }),
  dumb: { plugins: { required: ['auth', 'config', 'process', ...REQUIRED] } },
});
const places = ['route', 'stream', 'tap', 'contribution', 'service', 'callback', 'timer', 'job', 'event'] as const;
const host: HostProcess = await startHostProcess(port, {
  configDir,
  plugins: [...SHIPPED, 'caller', ...CELLS.map(([kind, fault]) => cellName(kind, fault))],
  deadlines: {
    importMs: 60_000,
    setupMs: 60_000,
    disposeMs: LIMIT_MS,
    // Who calls waits longer than who is called, as in the product. Services of the product are asked here too, and
    // look at files, which takes a loaded machine long.
    callMs: {
      ...Object.fromEntries(places.map(place => [place, LIMIT_MS])),
      service: 3 * LIMIT_MS,
      route: 6 * LIMIT_MS,
    },
  },
  recoveryPausesMs: Array(100).fill(100),
});
t.teardown(async () => {
  host.child.kill('SIGTERM');
  await host.exited;
});

const post = (route: string): Promise<Response> => fetch(host.base + route, { method: 'POST' });
const rows = async (): Promise<Row[]> => ((await host.json('/host/plugins')) as { plugins: Row[] }).plugins;
const named = (name: string, all: readonly Row[]): Row | undefined => all.find(row => row.name === name);
const statusOfKid = async () => (await host.json('/process/service-status?process_name=Kid')) as { status: string };
const pidOfKid = async (): Promise<number> =>
  JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8')).processes.Kid?.pid;

function connect(name: string, closes: boolean): Promise<void> {
  return new Promise(resolve => {
    const socket = new WebSocket(`${host.base.replace('http', 'ws')}/ws/${name}`);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('open', () => {
      if (closes) socket.close();
      else setTimeout(() => socket.close(), LIMIT_MS * 2);
    });
  });
}

let grace = 5;
const save = (update: object): Promise<Response> =>
  fetch(`${host.base}/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(update),
  });

/** Lets the fault happen; what is asked for is answered in any case. */
async function provoke(kind: Kind, name: string): Promise<Response | undefined> {
  if (OWN_ROUTE.includes(kind)) return post(`/cell/${name}`);
  if (kind === 'request-signal') {
    await fetch(`${host.base}/cell/${name}`, { method: 'POST', signal: AbortSignal.timeout(LIMIT_MS) }).catch(
      () => undefined,
    );
    return undefined;
  }
  if (kind.startsWith('answer-stream')) {
    // A failing source cuts the connection.
    await post(`/cell/${name}`)
      .then(answer => answer.text())
      .catch(() => undefined);
    return undefined;
  }
  if (kind === 'block-schema') return save({ process_name: 'Kid', updates: { [name]: 'x' } });
  if (kind === 'template')
    return save({ updates: { [name]: { instances: { b: { process_name: `${name} b`, command: ['sleep', '1'] } } } } });
  if (kind === 'section-schema') return save({ updates: { [name]: { text: 'x' } } });
  if (kind === 'tapped-signal') return post(`/call/hook-signal/${name}`);
  if (kind === 'tap-gives-function') return post(`/call/hook-given/${name}`);
  if (kind.startsWith('tap-') && !kind.startsWith('tap-config-')) return post(`/call/hook/${name}`);
  if (CALLED_BY_NAME.includes(kind)) return post(`/call/${kind}/${name}`);
  if (kind.startsWith('stream-')) await connect(name, kind !== 'stream-open');
  else if (kind === 'listener' || kind === 'any-listener') await post(`/emit/${name}`);
  else if (kind === 'disposer' || kind === 'host-signal')
    await rm(path.join(configDir, 'plugins', name), { recursive: true });
  else await post(`/arm/${name}`);
  // A long answer that nobody reads would keep its connection open.
  const long = { 'section-json': '/config/schema', 'answer-schema': '/description' }[kind as string];
  if (long !== undefined) await (await fetch(host.base + long)).arrayBuffer();
  if (kind === 'block-defaults' || kind.startsWith('tap-config-')) {
    grace += 1;
    return save({ process_name: 'Kid', updates: { stop_grace_seconds: grace } });
  }
  return kind === 'capability' ? fetch(`${host.base}/flags`) : undefined;
}

let pid = 0;
t.test('a service runs', async t => {
  await until(async () => (await statusOfKid()).status === 'running');
  pid = await pidOfKid();
  t.ok(pid > 0);
});

for (const [kind, fault] of CELLS) {
  const name = cellName(kind, fault);
  t.test(`${kind} ${fault}`, async t => {
    const answer = await provoke(kind, name);
    if (kind === 'tap-config-check')
      t.equal(answer?.status, fault === 'throws-later' ? 200 : fault === 'never-ends' ? 503 : 500);
    if (kind.startsWith('tap-veto') && (fault === 'never-ends' || fault === 'gives-rubbish') && answer !== undefined) {
      const { detail } = (await answer.json()) as { detail?: string };
      if (fault === 'never-ends') {
        t.equal(answer.status, 503);
        t.equal(detail, `tap on cell.${name} of ${name} takes longer than 300 ms and is left behind`);
      } else if (kind === 'tap-veto-waterfall') t.match(detail, new RegExp(`of ${name} gives what`));
    }
    const isHarmless = fault === 'gives-rubbish' && IGNORES_RUBBISH.includes(kind);
    let all: Row[] | undefined;
    if (isHarmless) {
      all = await rows();
      t.same(named(name, all)?.errors ?? {}, {}, 'what nobody uses is no fault');
    } else if (fault === 'blocks')
      await until(() => host.output().includes(`held up by ${name}: `), { what: 'the log to name who blocked' });
    else if (kind === 'disposer' || kind === 'host-signal')
      await until(
        () => host.output().includes(`${name}: dispose failed`) || host.output().includes(`fault of ${name}`),
        {
          what: 'the log to name whose disposer failed',
        },
      );
    else {
      const isLater = fault === 'throws-later' || fault === 'emits-error' || kind.endsWith('-signal');
      // The log is read first, because the list of all plugins is long.
      const isTold = await until(() => host.output().includes(`${name}: `), { what: 'the log to name the culprit' });
      t.ok(isTold, 'the log names it');
      all = await until(
        async () => {
          const found = await rows();
          return Object.keys(named(name, found)?.errors ?? {}).length > 0 ? found : undefined;
        },
        { what: 'the culprit to be named' },
      );
      // What is called for each of several things throws as often.
      if (isLater) t.match(named(name, all), { errors: { uncaught: Number } });
    }
    t.same(await host.json('/neighbour'), { fine: true }, 'others answer');
    t.match(named('caller', all ?? (await rows())), { state: 'ready', errors: {} }, 'who called is not blamed');
  });
}

t.test('what is required is there again, and supervision went on', async t => {
  for (const name of REQUIRED)
    await until(async () => named(name, await rows())?.state === 'ready', { what: `${name} to be brought back` });
  t.match(await statusOfKid(), { status: 'running' });
  t.equal(await pidOfKid(), pid, 'the same process');
  for (const row of (await rows()).filter(({ name }) => [...SHIPPED, 'caller'].includes(name)))
    t.match(row, { state: 'ready', errors: {} }, `${row.name} is not blamed`);
  await until(async () => ((await host.json('/health')) as { status: string }).status === 'healthy');
});
