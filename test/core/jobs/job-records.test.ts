// The records of jobs on the disk, and what the next host does with them.
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Job } from '../../../core/contract/job.ts';
import { createHost } from '../../../core/host/host.ts';
import { testDir } from '../../support/directory.ts';
import { begin, desks, source, work } from '../../support/job-desk.ts';
import { ownLog } from '../../support/own-log.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const KEEP = 'keep: { records: 3 },';

t.test('records are private files, of which a limited number is kept', async t => {
  const { desk, directory } = await work(t, KEEP);
  const ids: string[] = [];
  for (const key of ['a', 'b', 'c', 'd']) {
    const job = await begin(desk, key);
    ids.push(job.id);
    const record = path.join(directory, `${job.id}.json`);
    t.match(JSON.parse(await readFile(record, 'utf8')), { key, state: 'running' }, 'before anything else happens');
    t.equal((await stat(record)).mode & 0o777, 0o600);
    const ended = desk.jobs.run(key);
    desk.finish(key, { of: key });
    await ended;
  }
  for (const place of [directory, path.dirname(directory), path.dirname(path.dirname(directory))]) {
    t.equal((await stat(place)).mode & 0o777, 0o700, place);
  }
  const kept = ids.slice(1).flatMap(id => [`${id}.json`, `${id}.result.json`]);
  await until(async () => (await readdir(directory)).length === kept.length);
  t.same((await readdir(directory)).sort(), kept.sort());
  t.equal(desk.jobs.get(ids[0] ?? ''), undefined);
  t.equal(await desk.jobs.result(ids[0] ?? ''), null);
  t.same(await desk.jobs.result(ids[3] ?? ''), { of: 'd' });
});

t.test('the number of kept records can apply to each key, and records can be pinned', async t => {
  const { desk } = await work(t, `keep: { records: 1, perKey: true, pinned: job => job.checkpoint === 'precious' },`);
  const finished = async (key: string, precious = false) => {
    const job = await begin(desk, key);
    const { run } = desk as unknown as { run: { save(value: unknown): Promise<void> } };
    if (precious) await run.save('precious');
    const ended = desk.jobs.run(key);
    desk.finish(key);
    await ended;
    return job.id;
  };
  const precious = await finished('a', true);
  await finished('a');
  const [a, b] = [await finished('a'), await finished('b')];
  t.same(
    desk.jobs.list().map(job => job.id),
    [b, a, precious],
  );
});

t.test('a clock that is ahead for a while does not expire records', async t => {
  const { desk } = await work(t, 'keep: { records: 9, days: 30 },');
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  const ids: string[] = [];
  for (const aheadDays of [0, 60, 0]) {
    Date.now = () => now() + aheadDays * 86_400_000;
    const { id } = await begin(desk, 'a');
    const ended = desk.jobs.run('a');
    desk.finish('a');
    await ended;
    ids.unshift(id);
  }
  t.same(
    desk.jobs
      .list()
      .map(({ id }) => id)
      .sort(),
    ids.sort(),
  );
});

t.test('a job that cannot be recorded is not started', async t => {
  const { desk, configDir, directory } = await work(t, KEEP);
  const place = path.join(configDir, 'jobs');
  await rm(place, { recursive: true, force: true });
  await writeFile(place, 'in the way');
  await t.rejects(desk.jobs.start('a'), { status: 503, message: /cannot be recorded/ });
  t.same([desk.begun, desk.jobs.list()], [[], []]);
  await rm(place);
  await desk.jobs.start('a');
  t.equal((await readdir(directory)).length, 1, 'and is when that is mended');
});

t.test('finished work has succeeded even if that can only be recorded later', async t => {
  const { desk, app, configDir, directory, report } = await work(t, KEEP);
  const { id } = await begin(desk, 'a');
  const place = path.join(configDir, 'jobs');
  await rm(place, { recursive: true, force: true });
  await writeFile(place, 'in the way');
  const ended = desk.jobs.run('a');
  desk.finish('a', { of: 'a' });
  t.same(await ended, { of: 'a' });
  t.match(desk.jobs.get(id), { state: 'succeeded' });
  t.same(await desk.jobs.result(id), { of: 'a' });
  t.equal(report()?.errors.job, undefined, 'it is no fault of the plugin');
  await rm(place);
  const read = async (name: string) => JSON.parse(await readFile(path.join(directory, name), 'utf8'));
  t.same(await until(() => read(`${id}.result.json`), { what: 'the result' }), { of: 'a' });
  t.match(await until(() => read(`${id}.json`), { what: 'the record' }), { state: 'succeeded' });
  t.same(await desk.jobs.result(id), { of: 'a' });
  const told = () => ownLog(app).then(lines => lines.filter(line => line.includes('records of the jobs of work')));
  await until(async () => (await told()).length > 1, { what: 'the line that tells of its end' });
  t.match(await told(), [/cannot be written/, /are written again$/]);
});

for (const [what, spoil, reason] of [
  ['that others may write', (place: string) => chmod(place, 0o770), /may be written by others.*0700/],
  [
    'that is a link',
    async (place: string) => {
      await rename(place, `${place}-elsewhere`);
      await symlink(`${place}-elsewhere`, place);
    },
    /is no directory but a link/,
  ],
] as const) {
  t.test(`records in a directory ${what} are not trusted`, async t => {
    const configDir = testDir(t);
    const place = path.join(configDir, 'jobs', 'worker');
    await mkdir(place, { recursive: true, mode: 0o700 });
    await chmod(path.dirname(place), 0o700);
    await spoil(place);
    const { report } = await work(t, KEEP, configDir);
    t.match(report(), { state: 'failed', reason });
  });
}

/** Writes the record of an earlier host. */
async function record(directory: string, id: string, members: Partial<Job>): Promise<void> {
  const job: Job = {
    id: id.repeat(32),
    kind: 'work',
    key: id,
    state: 'running',
    input: null,
    progress: null,
    checkpoint: null,
    error: null,
    interruptions: 0,
    queuedAt: Date.parse('2026-01-01') + Number.parseInt(id, 16),
    startedAt: null,
    endedAt: null,
    updatedAt: 0,
    ...members,
  };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (let place = directory; path.basename(place) !== 'plugins' && place.includes('jobs'); place = path.dirname(place))
    await chmod(place, 0o700);
  await writeFile(path.join(directory, `${job.id}.json`), JSON.stringify({ version: 1, ...job }), { mode: 0o600 });
}

/** What a killed host left behind, with a damaged record, a result without a job and an unfinished write. */
async function remains(t: Test) {
  const configDir = testDir(t);
  const directory = path.join(configDir, 'jobs', 'worker', 'work');
  await record(directory, 'a', { state: 'running', checkpoint: { step: 4 } });
  await record(directory, 'b', { state: 'queued' });
  await record(directory, 'c', { state: 'succeeded', endedAt: 5 });
  await record(directory, 'd', { state: 'running', interruptions: 4 });
  await writeFile(path.join(directory, `${'e'.repeat(32)}.json`), '{ torn');
  await writeFile(path.join(directory, `${'f'.repeat(32)}.result.json`), '{}');
  await writeFile(path.join(directory, `x.json.${'0'.repeat(12)}.tmp`), '');
  const onDisk = async (id: string) => JSON.parse(await readFile(path.join(directory, `${id}.json`), 'utf8'));
  return { configDir, directory, onDisk };
}

t.test('a dry run changes no records of an earlier host', async t => {
  const { configDir, directory, onDisk } = await remains(t);
  const folder = path.join(configDir, 'plugins', 'worker');
  await mkdir(folder, { recursive: true });
  desks.set(t.name, { begun: [] } as never);
  await writeFile(path.join(folder, 'index.js'), source(t.name, 'keep: { records: 9 },'));
  await writeFile(path.join(configDir, 'stackwarden.json'), '{}');
  const before = await readdir(directory);
  const host = await createHost({ configDir, plugins: ['worker'], dryRun: true, ownsProcess: false });
  t.match(desks.get(t.name)?.jobs.get('a'.repeat(32)), { state: 'interrupted' });
  await host.stop();
  t.same(await readdir(directory), before);
  t.match(await onDisk('a'.repeat(32)), { state: 'running' });
});

t.test('a job of an earlier host resumes from its checkpoint', async t => {
  const { configDir, directory, onDisk } = await remains(t);
  const { desk, app } = await work(t, 'keep: { records: 9 }, resume: true,', configDir);
  t.match(desk.jobs.get('d'.repeat(32)), { state: 'failed', interruptions: 5, error: { code: 'interrupted' } });
  await until(() => desk.begun.length > 0);
  t.match(desk.jobs.get('a'.repeat(32)), { state: 'running', interruptions: 1 });
  const { run } = desk as unknown as { run: { checkpoint: unknown } };
  t.same(run.checkpoint, { step: 4 });
  desk.finish('a', 'done');
  await until(() => desk.begun.length > 1);
  t.same(desk.begun, ['a', 'b'], 'in their order');
  t.equal(await desk.jobs.result('a'.repeat(32)), 'done');
  const names = await readdir(directory);
  t.equal(names.filter(name => /^e+\.json\.corrupt-\d+$/.test(name)).length, 1, 'what cannot be read is set aside');
  t.same(
    names.filter(name => name.endsWith('.tmp') || name.startsWith('f')),
    [],
    'leftovers go',
  );
  await app.host.stop();
  t.match(
    await onDisk('b'.repeat(32)),
    { state: 'queued', interruptions: 0 },
    'an orderly stop leaves it for the next',
  );
});

t.test('a job resumes only with an input that fits the present schema', async t => {
  const configDir = testDir(t);
  const directory = path.join(configDir, 'jobs', 'worker', 'work');
  await record(directory, 'a', { input: { name: 5, size: 1 } });
  await record(directory, 'b', { input: { name: 'old' } });
  await record(directory, 'c', { input: { name: 'new', size: 2 } });
  const schema = 'z.object({ name: z.string(), size: z.int().default(7) })';
  const { desk, app } = await work(
    t,
    `keep: { records: 9 }, resume: true, concurrency: 9, input: ${schema},`,
    configDir,
  );
  await until(() => desk.begun.length === 2);
  t.match(desk.jobs.get('a'.repeat(32)), {
    state: 'failed',
    error: { message: /^its stored input does not fit this version: name: .*; start it again$/ },
  });
  t.match(desk.jobs.get('b'.repeat(32)), { state: 'running', input: { name: 'old', size: 7 } });
  t.match(desk.jobs.get('c'.repeat(32)), { state: 'running', input: { name: 'new', size: 2 } });
  await app.host.stop();
});

t.test('a stored input is not parsed again by a schema that changes it', async t => {
  const configDir = testDir(t);
  await record(path.join(configDir, 'jobs', 'worker', 'work'), 'a', { input: 5 });
  const { desk, app } = await work(
    t,
    'keep: { records: 9 }, resume: true, input: z.string().transform(Number),',
    configDir,
  );
  await until(() => desk.begun.length === 1);
  t.match(desk.jobs.get('a'.repeat(32)), { state: 'running', input: 5 });
  await app.host.stop();
});

t.test('a job without input resumes where its schema says that there need be none', async t => {
  const configDir = testDir(t);
  await record(path.join(configDir, 'jobs', 'worker', 'work'), 'a', { input: null });
  const schema = 'z.object({ name: z.string() }).optional()';
  const { desk, app } = await work(t, `keep: { records: 9 }, resume: true, input: ${schema},`, configDir);
  await until(() => desk.jobs.get('a'.repeat(32))?.state !== 'queued');
  t.match(desk.jobs.get('a'.repeat(32)), { state: 'running', input: null });
  await app.host.stop();
});

t.test('a job of an earlier host that cannot resume is interrupted', async t => {
  const { configDir, onDisk } = await remains(t);
  const { desk, app } = await work(t, 'keep: { records: 9 },', configDir);
  for (const id of ['a', 'b']) {
    t.match(desk.jobs.get(id.repeat(32)), { state: 'interrupted', error: { code: 'interrupted' } });
  }
  const stopped = await begin(desk, 'new');
  await app.host.stop();
  t.same(desk.begun, ['new']);
  for (const id of ['a'.repeat(32), stopped.id]) t.match(await onDisk(id), { state: 'interrupted' });
});

t.test('no job runs while work of an earlier load of the plugin still runs', async t => {
  const { desk, app } = await work(t, 'keep: { records: 9 }, resume: true,');
  desk.deaf.add('a');
  const { id } = await begin(desk, 'a');
  const { finish, jobs: before } = desk;
  await t.resolves(app.host.stop(), 'the host does not wait for it for ever');
  t.match(before.get(id), { state: 'queued' });
  finish('a', 'too late');
});

t.test('a reload waits for work that ignores its signal', async t => {
  const { desk, app } = await work(t, 'keep: { records: 9 }, resume: true,');
  desk.deaf.add('a');
  const { id } = await begin(desk, 'a');
  const { finish, jobs: before } = desk;
  const file = path.join(app.configDir, 'plugins', 'worker', 'index.js');
  await writeFile(file, `${await readFile(file, 'utf8')}\n// changed`);
  await until(() => desk.jobs !== before, { what: 'the next load of the plugin' });
  t.match(desk.jobs.get(id), { state: 'queued' });
  t.same(desk.begun, ['a'], 'its work is not begun again beside itself');
  await t.rejects(desk.jobs.start('b', null, { queue: false }), { status: 409, message: /busy/ });
  desk.deaf.delete('a');
  finish('a', 'too late');
  await until(() => desk.begun.length === 2);
  t.match(desk.jobs.get(id), { state: 'running' });
});

t.test('a reload that no longer waits for the end of the jobs runs none beside the work that goes on', async t => {
  const deadlines = { importMs: 60_000, setupMs: 60_000, disposeMs: 200 };
  const { desk, app } = await work(t, 'keep: { records: 9 },', testDir(t), { deadlines });
  desk.deaf.add('a');
  await begin(desk, 'a');
  const { finish, jobs: before } = desk;
  const file = path.join(app.configDir, 'plugins', 'worker', 'index.js');
  await writeFile(file, `${await readFile(file, 'utf8')}\n// changed`);
  await until(() => desk.jobs !== before, { what: 'the next load of the plugin' });
  t.match(await desk.jobs.start('b'), { state: 'queued' });
  t.same(desk.begun, ['a']);
  finish('a');
  await until(() => desk.begun.length === 2);
  t.same(desk.begun, ['a', 'b'], 'the next begins when it has ended');
});

t.test('a job survives the SIGKILL of its host', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const folder = path.join(configDir, 'plugins', 'counter');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    `export default { name: 'counter', host: '^1', async setup (host) {
      const gate = process.env.GATE
      const work = async job => {
        let count = job.checkpoint?.count ?? 0
        while (count < 10) {
          count += 1
          await job.save({ count })
          job.report({ percent: count * 10, text: 'counting' })
          if (count === 5 && gate === 'closed') await new Promise(resolve => job.signal.addEventListener('abort', resolve))
          job.signal.throwIfAborted()
        }
        return { count, from: job.checkpoint?.count ?? 0 }
      }
      const kinds = {
        counted: await host.jobs('counted', { keep: { records: 5 }, resume: true, run: work }),
        lost: await host.jobs('lost', { keep: { records: 5 }, run: work }),
      }
      host.route({ method: 'POST', path: '/count', summary: 'x', async handle () {
        return { counted: await kinds.counted.start('k'), lost: await kinds.lost.start('k') }
      } })
      host.route({ method: 'GET', path: '/counts', summary: 'x', async handle () {
        const row = async jobs => jobs.list()[0] && { ...jobs.list()[0], result: await jobs.result(jobs.list()[0].id) }
        return { counted: await row(kinds.counted) ?? null, lost: await row(kinds.lost) ?? null }
      } })
    } }`,
  );
  const options = (gate: string) => ({ args: ['start', '--plugins', 'counter,host-plugins'], env: { GATE: gate } });
  const first = await startStackwarden(configDir, port, options('closed'));
  t.teardown(() => first.child.kill('SIGKILL'));
  const counts = async () => (await (await fetch(`${first.base}/counts`)).json()) as Record<string, Job>;
  await fetch(`${first.base}/count`, { method: 'POST' });
  const before = await until(async () => {
    const rows = await counts();
    // The progress is reported once the checkpoint is on the disk.
    const both = [rows.counted, rows.lost].every(row => row?.progress?.percent === 50);
    return both ? rows : undefined;
  });
  t.match(before, { counted: { state: 'running' }, lost: { state: 'running' } });
  first.child.kill('SIGKILL');
  await first.exited;

  const second = await startStackwarden(configDir, port, options('open'));
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  const after = await until(async () => {
    const rows = await counts();
    return rows.counted?.state === 'succeeded' ? rows : undefined;
  });
  t.match(after.counted, { id: before.counted?.id, interruptions: 1, result: { count: 10, from: 5 } });
  t.match(after.lost, { id: before.lost?.id, state: 'interrupted', error: { code: 'interrupted' }, result: null });
});
