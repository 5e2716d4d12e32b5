// Line 24: the folder of the program is deleted or replaced while it runs, as upgrades do. What runs stays supervised.
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { sharedBuild } from '../support/build.ts';
import { memoryDir, testDir } from '../support/directory.ts';
import { kid } from '../support/kids.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config', 'process', 'auto-restart'];

async function startFrom(t: Test, build: string, enabled: boolean, plugins = PLUGINS) {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { kid: { ...kid('Kid', ['calm']), enabled } });
  const host = await startStackwarden(configDir, port, { build, plugins });
  const ask = async (route: string, body?: object) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(host.base + route, body === undefined ? {} : options);
    return { status: response.status, text: await response.text() };
  };
  const pid = async () => {
    const found = /"pid":(\d+)/.exec((await ask('/process/service-statuses')).text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const end = async () => {
    host.child.kill('SIGTERM');
    t.equal((await host.exited).code, 0);
  };
  return { host, ask, pid, end };
}

const told =
  /was deleted or replaced while Stackwarden runs from it: the plugins stay as they are; restart Stackwarden/;

const kept = /the plugin process: its folder is gone; it stays until Stackwarden is started again/;

t.test('a program folder that goes', async t => {
  const directory = memoryDir(t);
  const build = await sharedBuild(t);
  const copy = async (name: string) => {
    const folder = path.join(directory, name);
    await cp(build, folder, { recursive: true, verbatimSymlinks: true });
    return folder;
  };

  await t.test('is deleted', async t => {
    const folder = await copy('deleted');
    const { host, ask, pid, end } = await startFrom(t, folder, true);
    await until(async () => (await pid()) !== undefined, { what: 'the service to run' });
    await rm(folder, { recursive: true });
    await until(() => told.test(host.stdout()), { what: 'the host to tell' });
    const first = await pid();
    t.type(first, 'number');
    t.match(await ask('/process/restart-service', { process_name: 'Kid' }), { status: 200 });
    const second = await pid();
    t.not(second, first);
    await end();
    t.throws(() => process.kill(second ?? 0, 0), { code: 'ESRCH' }, 'the service was stopped');
  });

  await t.test('loses what supervises first, and rests then', async t => {
    const folder = await copy('slow');
    const { host, ask, pid, end } = await startFrom(t, folder, true);
    const running = await until(pid, { what: 'the service to run' });
    for (const plugin of PLUGINS) await rm(path.join(folder, 'plugins', plugin), { recursive: true });
    await until(() => kept.test(host.stdout()), { what: 'the host to tell' });
    await until(() => host.stdout().includes('the plugin auto-restart is gone'), { what: 'what is not needed to go' });
    t.equal(await pid(), running);
    t.match(await ask('/process/restart-service', { process_name: 'Kid' }), { status: 200 });
    const again = await pid();
    t.type(again, 'number');
    await end();
    t.throws(() => process.kill(again ?? 0, 0), { code: 'ESRCH' }, 'the service was stopped');
  });

  await t.test('is replaced', async t => {
    const folder = await copy('replaced');
    const { host, pid, end } = await startFrom(t, folder, true);
    await until(async () => (await pid()) !== undefined, { what: 'the service to run' });
    const first = await pid();
    await rm(folder, { recursive: true });
    await copy('replaced');
    await until(() => told.test(host.stdout()), { what: 'the host to tell' });
    t.equal(await pid(), first);
    await end();
    t.throws(() => process.kill(first ?? 0, 0), { code: 'ESRCH' }, 'the service was stopped');
  });

  await t.test('what needs a part that was not loaded says what to do', async t => {
    const folder = await copy('parts');
    const { ask, end } = await startFrom(t, folder, false, [...PLUGINS, 'notifications', 'console']);
    await rm(folder, { recursive: true });
    const advice = /restart Stackwarden/;
    for (const [route, body] of [
      ['/config', { updates: { dumb: { filler: 'x'.repeat(100_000) } }, persist: true }],
      ['/notifications/history'],
      ['/console'],
    ] as const)
      t.match(await ask(route, body), { status: 503, text: advice }, route);
    await end();
  });

  await t.test('before the thread that reads output was needed', async t => {
    const folder = await copy('early');
    const { ask, end } = await startFrom(t, folder, false);
    await rm(folder, { recursive: true });
    const refusal = /Kid is not started, because its output cannot be kept: the thread .* restart Stackwarden/;
    t.match(await ask('/process/start-service', { process_name: 'Kid' }), { status: 503, text: refusal });
    t.match(await ask('/process/start-service', { process_name: 'Kid' }), { status: 503, text: refusal });
    await end();
  });
});
