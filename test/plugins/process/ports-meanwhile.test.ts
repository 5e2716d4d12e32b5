// A port that moves while others save the configuration: what they save stays, and what they remove is not written to.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { start, status } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const sleeper = (processName: string, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

const renamed = (block: unknown) => ({ ...(block as object), process_name: 'New' });

/** A check of updates that takes until `go` exists, for the first update after `hold` was made. */
const gate = (dir: string) => `
  const { existsSync, renameSync } = process.getBuiltinModule('node:fs')
  host.tap('config.check', async () => {
    if (!existsSync('${dir}/hold')) return
    renameSync('${dir}/hold', '${dir}/held')
    while (!existsSync('${dir}/go')) await new Promise(done => setTimeout(done, 50))
  })
`;

async function occupy(t: Test): Promise<number> {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  return port;
}

/** A host in which the port of `Web` is moved while an update is checked that changes the configuration. */
async function movedWhile(
  t: Test,
  config: Record<string, unknown>,
  updates: Record<string, unknown>,
  more: (app: TestHost) => Promise<void> = async () => undefined,
) {
  const dir = testDir(t, {});
  const app = await startWithPlugins(t, { gate: gate(dir) }, { shipped: ['config', 'process'], config });
  await writeFile(path.join(dir, 'hold'), '');
  const saving = app.post('/config', { updates, persist: true });
  await until(() => existsSync(path.join(dir, 'held')), { what: 'the check of the update' });
  const starting = start(app, 'Web');
  await until(async () => (await status(app, 'Web')).status === 'starting', { what: 'the start' });
  await more(app);
  await writeFile(path.join(dir, 'go'), '');
  const answers = { saved: await saving, started: await starting };
  return { app, ...answers, file: JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8')) };
}

t.test('a wait that a user adds stays', async t => {
  const taken = await occupy(t);
  const [own, others] = [`http://127.0.0.1:${taken}/`, 'http://127.0.0.1:1/'];
  const list = sleeper('List', { wait_for_url: [own] });
  const { saved, started, file } = await movedWhile(
    t,
    { web: sleeper('Web', { port: taken }), list },
    { list: { wait_for_url: [others, own] } },
  );
  t.same([saved.status, started.status], [200, 200]);
  t.ok(file.web.port > taken);
  t.same(file.list.wait_for_url, [others, `http://127.0.0.1:${file.web.port}/`]);
});

t.test('a port that a user saves is the one that is used', async t => {
  const [taken, better] = [await occupy(t), await freePort()];
  const { saved, started, file } = await movedWhile(
    t,
    { web: sleeper('Web', { port: taken, env: { PORT: '{port}' } }) },
    { web: { port: better } },
  );
  t.same([saved.status, started.status], [200, 200]);
  t.equal(file.web.port, better);
});

t.test('a port that a user saves while the start waits moves, too', async t => {
  const [taken, free, later] = [await occupy(t), await freePort(), path.join(testDir(t, {}), 'later')];
  const config = { web: sleeper('Web', { port: free, wait_for_dir: later }) };
  const app = await startHost({ config });
  t.teardown(() => app.stop());
  const starting = start(app, 'Web');
  await until(async () => /^Waiting for/.test((await status(app, 'Web')).health_reason), { what: 'the wait' });
  t.equal((await app.post('/config', { updates: { web: { port: taken } }, persist: true })).status, 200);
  await mkdir(later);
  t.equal((await starting).status, 200);
  const { port } = (await app.get('/config?process_name=Web')).body;
  t.ok(port > taken, `${port}`);
});

t.test('the port that it was to have goes to another service', async t => {
  const taken = await occupy(t);
  const config = { web: sleeper('Web', { port: taken }), next: sleeper('Next') };
  const { started, file } = await movedWhile(t, config, { next: { enabled: true, port: taken + 1 } });
  t.equal(started.status, 200);
  t.equal(file.next.port, taken + 1);
  t.ok(file.web.port > taken + 1, `${file.web.port}`);
});

t.test('nothing is left of an entry that is removed', async t => {
  const taken = await occupy(t);
  const { saved, started, file } = await movedWhile(
    t,
    { kids: { instances: { one: sleeper('Web', { port: taken }), two: sleeper('Other') } } },
    { kids: { instances: { one: null } } },
  );
  t.equal(saved.status, 200);
  t.match(started, { status: 409, body: { detail: /its entry is gone from the configuration/ } });
  t.same(Object.keys(file.kids.instances), ['two']);
});

t.test('an entry that is renamed keeps its port', async t => {
  const taken = await occupy(t);
  const { app, started, file } = await movedWhile(
    t,
    { web: sleeper('Web', { port: taken }) },
    { note: sleeper('Note') },
    ({ configDir }) => changeMainFile(configDir, ({ web, ...rest }) => ({ ...rest, web: renamed(web) })),
  );
  t.match(started, { status: 409, body: { detail: /its entry is gone from the configuration/ } });
  await until(async () => (await status(app, 'New')).status === 'stopped', { what: 'the new name' });
  t.equal(file.web.port, taken);
});
