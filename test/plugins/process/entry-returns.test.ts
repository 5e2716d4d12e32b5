// A block that leaves the configuration while its process takes its time to end: it never runs twice, and nothing is
// left.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, lives, pidOf, start, status } from '../../support/kids.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

async function edit(app: TestHost, change: (root: Record<string, Record<string, unknown>>) => void): Promise<void> {
  const file = path.join(app.configDir, 'stackwarden.json');
  const root = JSON.parse(await readFile(file, 'utf8'));
  change(root);
  await writeFile(file, JSON.stringify(root, null, 4));
}

const gone = async (app: TestHost, name: string) =>
  (await app.get(`/process/service-status?process_name=${name}`)).status === 404;

t.test('it comes back meanwhile: the new one starts when the old one has ended', async t => {
  const block = kid('Kid', ['ignore-term'], { enabled: true, stop_grace_seconds: 3 });
  const app = await startHost({ config: { kid: block } });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Kid')).status === 'running');
  const first = await pidOf(app, 'Kid');
  await edit(app, root => delete root.kid);
  await until(() => gone(app, 'Kid'), { what: 'the entry to be gone' });
  t.ok(lives(first), 'it takes its time');
  await edit(app, root => {
    root.kid = block;
  });
  await until(async () => !(await gone(app, 'Kid')), { what: 'the entry to be back' });
  const second = await until(async () => {
    const isRunning = (await status(app, 'Kid')).status === 'running';
    const pid = await pidOf(app, 'Kid');
    return isRunning && pid !== first ? pid : undefined;
  });
  t.notOk(lives(first), 'the old run had ended before');
  t.ok(lives(second));
});

t.test('it is renamed: the port stays its own', async t => {
  const port = await freePort();
  const block = kid('Kid', ['web'], { enabled: true, port, stop_grace_seconds: 3, env: { PORT: '{port}' } });
  const app = await startHost({ config: { kid: block } });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Kid')).status === 'running');
  await edit(app, root => {
    root.kid = { ...block, process_name: 'Renamed' };
  });
  await until(async () => (await status(app, 'Renamed'))?.status === 'running', { what: 'the renamed one' });
  t.match((await app.get('/process?process_name=Renamed')).body, { config: { port } });
});

t.test('the host is stopped meanwhile: nothing is left', async t => {
  const app = await startHost({
    config: { kid: kid('Kid', ['ignore-term'], { enabled: true, stop_grace_seconds: 4 }) },
  });
  await until(async () => (await status(app, 'Kid')).status === 'running');
  const pid = await pidOf(app, 'Kid');
  await edit(app, root => delete root.kid);
  await until(() => gone(app, 'Kid'), { what: 'the entry to be gone' });
  t.ok(lives(pid));
  await app.stop();
  t.notOk(lives(pid));
});

/** A host with an unusable configuration, beside services that an earlier host left running. */
async function besideUnusable(t: Test) {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const file = path.join(configDir, 'stackwarden.json');
  const { kid: block, ...others } = JSON.parse(await readFile(file, 'utf8'));
  t.ok(block);
  const plugins = ['config', 'process'];
  const first = await startStackwarden(configDir, port, { plugins });
  const pid = await until(async () => {
    const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
    return state.processes.Kid?.pid;
  });
  first.child.kill('SIGKILL');
  await first.exited;
  for (const name of await readdir(configDir))
    if (name.startsWith('stackwarden.json.')) await rm(path.join(configDir, name));
  await writeFile(file, '{');
  const app = await startHost({ configDir, plugins });
  t.teardown(() => app.stop());
  t.ok(lives(pid), 'nobody knows yet');
  return { app, pid, file, others };
}

t.test('it was in a configuration that could not be used, and is not in the mended one: it is stopped', async t => {
  const { pid, file, others } = await besideUnusable(t);
  await writeFile(file, JSON.stringify(others));
  await until(() => !lives(pid), { timeoutMs: 20_000, what: 'the end of what is not in the configuration' });
});

t.test('the host is stopped beside a configuration that cannot be used: nothing is left', async t => {
  const { app, pid } = await besideUnusable(t);
  await app.stop();
  t.notOk(lives(pid));
});

t.test('it leaves while a start waits: the answer says that the entry is gone', async t => {
  const file = path.join(testDir(t, {}), 'never');
  const block = kid('Kid', ['calm'], { enabled: false, wait_for_files: [file] });
  const app = await startHost({ config: { kid: block } });
  t.teardown(() => app.stop());
  const started = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).status === 'starting');
  await edit(app, root => delete root.kid);
  const detail = /^Start of Kid was cancelled, because its entry is gone from the configuration; add the entry again/;
  t.match(await started, { status: 409, body: { detail } });
});
