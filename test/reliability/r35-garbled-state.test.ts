// R35: a record of the supervisor that no host can have written ends nothing and removes nothing; it is kept aside.
// What could not be written is written as soon as that is possible.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, pidOf, start, stop } from '../support/kids.ts';
import { ownLog } from '../support/own-log.ts';
import { until } from '../support/until.ts';

const RECORD = {
  pid: 2 ** 22,
  pgid: 2 ** 22,
  start_time: 1,
  boot_id: 'another',
  started_at: 1,
  run_id: 'r1',
  spool: '/nowhere/r1.spool',
  block_digest: '',
  cgroup: '',
  config_key: 'kid',
};

const WRONG: readonly (readonly [string, (dir: string) => Partial<typeof RECORD>, 'kept aside' | 'used'])[] = [
  ['a file of somebody else as its spool', dir => ({ spool: path.join(dir, 'precious') }), 'kept aside'],
  ['a spool in another directory', dir => ({ spool: path.join(dir, 'precious.spool') }), 'used'],
  ['a cgroup of others', () => ({ cgroup: '/sys/fs/cgroup' }), 'kept aside'],
  ["the host's own group", () => ({ pgid: 0 }), 'kept aside'],
  ['a group of others', () => ({ pgid: -5 }), 'kept aside'],
];

for (const [what, change, outcome] of WRONG) {
  t.test(`${what}: the file is ${outcome}`, async t => {
    const configDir = testDir(t, { precious: 'kept', 'precious.spool': 'kept' });
    const directory = path.join(configDir, 'supervisor');
    await mkdir(directory, { mode: 0o700 });
    const state = { version: 1, processes: { Kid: { ...RECORD, ...change(configDir) } } };
    await writeFile(path.join(directory, 'state.json'), JSON.stringify(state), { mode: 0o600 });
    const app = await startHost({ configDir, config: { kid: kid('Kid', ['calm']) } });
    t.teardown(() => app.stop());
    const status = async (): Promise<string> => (await app.get('/process/service-status?process_name=Kid')).body.status;
    await until(async () => (await status()) !== 'unknown');
    t.equal(await status(), 'stopped');
    for (const name of ['precious', 'precious.spool']) t.ok(existsSync(path.join(configDir, name)), `${name} is there`);
    const kept = (await readdir(directory)).filter(name => name.startsWith('state.json.corrupt-'));
    t.equal(kept.length, outcome === 'used' ? 0 : 1);
  });
}

t.test('a link in place of the file is kept, and not followed', async t => {
  const configDir = testDir(t, { precious: 'kept' });
  const directory = path.join(configDir, 'supervisor');
  await mkdir(directory, { mode: 0o700 });
  await symlink(path.join(configDir, 'precious'), path.join(directory, 'state.json'));
  const app = await startHost({ configDir, config: { kid: kid('Kid', ['calm']) } });
  t.teardown(() => app.stop());
  const kept = (await readdir(directory)).filter(name => name.startsWith('state.json.corrupt-'));
  t.equal(kept.length, 1);
  t.equal(await readFile(path.join(configDir, 'precious'), 'utf8'), 'kept');
});

t.test('what is wrong with it is told in one line', async t => {
  const configDir = testDir(t, {});
  const directory = path.join(configDir, 'supervisor');
  await mkdir(directory, { mode: 0o700 });
  await writeFile(path.join(directory, 'state.json'), '{"version":"x","processes":[1]}', { mode: 0o600 });
  const app = await startHost({ configDir, config: {}, plugins: ['config', 'process', 'logs'] });
  t.teardown(() => app.stop());
  const log = async (): Promise<string> => (await app.get('/logs?process_name=DUMB')).body.chunk;
  const line = /could not be used and is kept as \S+: version: it must be 1\n/;
  t.ok(await until(async () => line.test(await log()), { what: 'the line in the log' }));
});

t.test('what could not be written is written later, and told once', async t => {
  const names = ['First', 'Second', 'Third'];
  const blocks = names.map(name => [name.toLowerCase(), kid(name, ['calm'])]);
  const app = await startHost({ config: Object.fromEntries(blocks), plugins: ['config', 'process', 'health'] });
  t.teardown(() => app.stop());
  for (const name of names) t.equal((await start(app, name)).status, 200);
  for (const name of names) await pidOf(app, name);
  const directory = path.join(app.configDir, 'supervisor');
  const inTheWay = path.join(directory, 'state.json.new');
  await mkdir(inTheWay);
  for (const name of names) t.equal((await stop(app, name)).status, 200);
  const state = async () => JSON.parse(await readFile(path.join(directory, 'state.json'), 'utf8'));
  t.same(Object.keys((await state()).processes), names, 'the disk knows nothing of it');
  t.match((await app.get('/health')).body, {
    status: 'healthy',
    details: /would not know its processes: \S+state\.json/,
  });
  await rmdir(inTheWay);
  await until(async () => Object.keys((await state()).processes).length === 0, { what: 'the file to follow' });
  for (const name of names) t.match((await state()).wanted[name], { state: 'stopped', by: 'user' });
  t.equal((await app.get('/health')).body.details, undefined);
  const told = (await ownLog(app)).filter(line => line.includes('state.json'));
  t.match(told, [/state\.json cannot be written; a restart .* would not know/, /state\.json is written again$/]);
});
