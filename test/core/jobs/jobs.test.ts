// Jobs as their plugin uses them: keys, concurrency, input, progress and cancellation.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { Job } from '../../../core/contract/job.ts';
import { begin, work } from '../../support/job-desk.ts';
import { until } from '../../support/until.ts';

const KEEP = 'keep: { records: 3 },';

t.test('a key has one job at a time: other requests get that job, later ones a new job', async t => {
  const { desk } = await work(t);
  const first = await desk.jobs.start('a');
  t.match(first, { key: 'a', kind: 'work', state: 'running', endedAt: null, error: null, progress: null });
  t.match(first.id, /^[0-9a-f]{32}$/);
  t.equal((await desk.jobs.start('a')).id, first.id);
  const both = [desk.jobs.run('a'), desk.jobs.run('a')];
  desk.finish('a', { sum: 3 });
  t.same(await Promise.all(both), [{ sum: 3 }, { sum: 3 }]);
  t.match(desk.jobs.get(first.id), { state: 'succeeded' });
  t.same(await desk.jobs.result(first.id), { sum: 3 });
  t.same(desk.begun, ['a']);
  t.not((await desk.jobs.start('a')).id, first.id);
});

t.test('a second request for a key, or one that would have to wait, can be refused', async t => {
  const { desk } = await work(t, `duplicate: 'refuse', maxQueued: 1,`);
  await desk.jobs.start('a');
  await t.rejects(desk.jobs.start('a'), { status: 409, message: /work of a is running/ });
  await t.rejects(desk.jobs.start('b', null, { queue: false }), { status: 409, message: /busy with a/ });
  t.match(await desk.jobs.start('b'), { state: 'queued' });
  await t.rejects(desk.jobs.start('c'), { status: 429, message: /Too many/ });
  await t.rejects(desk.jobs.start(''), TypeError);
});

t.test('a limited number of jobs run at once, and the others wait in order', async t => {
  const { desk } = await work(t, 'concurrency: 2,');
  for (const key of ['a', 'b', 'c', 'd']) await desk.jobs.start(key);
  t.same(desk.begun, ['a', 'b']);
  t.same(
    desk.jobs.list({ active: true }).map(({ key, state }) => [key, state]),
    [
      ['d', 'queued'],
      ['c', 'queued'],
      ['b', 'running'],
      ['a', 'running'],
    ],
  );
  desk.finish('b');
  await until(() => desk.begun.length === 3);
  desk.finish('a');
  await until(() => desk.begun.length === 4);
  t.same(desk.begun, ['a', 'b', 'c', 'd']);
  t.same(
    desk.jobs.list({ key: 'b' }).map(({ state }) => state),
    ['succeeded'],
  );
});

t.test('the input of a job is checked, and its data is limited in size', async t => {
  const { desk, report } = await work(t, `input: z.object({ dry: z.boolean(), note: z.string().default('-') }),`);
  await t.rejects(desk.jobs.start('a', { dry: 'no' }), {
    status: 422,
    message: /dry/,
    extra: { errors: [{ loc: ['dry'] }] },
  });
  const long = { dry: true, note: 'x'.repeat(70_000) };
  await t.rejects(desk.jobs.start('a', long), { status: 413, message: /larger than .*; give less/ });
  const job = await desk.jobs.start('a', { dry: true });
  t.same(job.input, { dry: true, note: '-' });
  const { run } = desk as unknown as { run: { report(progress: unknown): void; save(value: unknown): Promise<void> } };
  t.throws(() => run.report({ details: 'x'.repeat(70_000) }), /larger than/);
  await t.rejects(run.save('x'.repeat(70_000)), /larger than/);
  const ended = desk.jobs.run('a', { dry: true });
  desk.finish('a', 'x'.repeat(3_000_000));
  await t.rejects(ended, /the result of work is larger than/);
  t.match(desk.jobs.get(job.id), { state: 'failed', error: { code: 'failed' } });
  t.equal(report()?.errors.job, 1);
});

t.test('a job whose input JSON cannot hold is refused', async t => {
  const refusals: readonly [schema: string, message: RegExp][] = [
    [
      'z.object({ days: z.array(z.date().optional()) })',
      /^the input of the jobs of work has a date, .* z\.iso\.datetime\(\)/,
    ],
    ['z.map(z.string(), z.string())', /has a map, which JSON cannot hold; take z\.record\(\)/],
    ['z.record(z.string(), z.set(z.string()))', /has a set, which JSON cannot hold; take z\.array\(\)/],
    ['z.union([z.string(), z.coerce.bigint()])', /has a bigint, which JSON cannot hold; take z\.string\(\)/],
  ];
  for (const [schema, message] of refusals)
    await t.test(schema, async t => {
      const { desk } = await work(t, `input: ${schema},`);
      for (let time = 0; time < 2; time += 1) await t.rejects(desk.jobs.start('a', 'x'), { message });
      t.same(desk.jobs.list(), []);
    });
  const { desk } = await work(t, 'input: z.coerce.date().transform(date => date.toJSON()),');
  const { input } = await desk.jobs.start('a', '2020-02-02');
  t.equal(input, '2020-02-02T00:00:00.000Z', 'only what comes out counts');
});

t.test('listeners get a limited number of progress reports, always including the last', async t => {
  const { desk } = await work(t);
  const heard: Job[] = [];
  desk.jobs.watch(() => {
    throw new Error('a listener of its own');
  });
  const end = desk.jobs.watch(job => heard.push(job));
  await desk.jobs.start('a');
  const { run } = desk as unknown as { run: { report(progress: unknown): void } };
  for (let done = 1; done <= 1_000; done += 1) run.report({ percent: done / 5, details: { done } });
  await until(() => (heard.at(-1)?.progress?.details as { done?: number } | undefined)?.done === 1_000);
  t.ok(heard.length < 20, `${heard.length} notifications for 1000 reports`);
  t.same(heard.at(-1)?.progress, { percent: 100, text: null, details: { done: 1_000 } });
  run.report({ text: 'nearly' });
  await until(() => heard.at(-1)?.progress?.text === 'nearly');
  t.same(heard.at(-1)?.progress?.details, { done: 1_000 }, 'what is not given stays');
  run.report({ percent: 50, text: undefined, details: undefined });
  await until(() => heard.at(-1)?.progress?.percent === 50);
  t.same(heard.at(-1)?.progress, { percent: 50, text: 'nearly', details: { done: 1_000 } }, 'nor is undefined');
  desk.finish('a');
  await until(() => heard.at(-1)?.state === 'succeeded');
  await end();
  const count = heard.length;
  await desk.jobs.start('b');
  t.equal(heard.length, count, 'nothing after the end of listening');
});

t.test('saved and reported values are copies, which later changes do not reach', async t => {
  const { desk, directory } = await work(t, KEEP);
  const { id } = await begin(desk, 'a');
  const { run } = desk as unknown as { run: { report(progress: unknown): void; save(value: unknown): Promise<void> } };
  const checkpoint = { at: 1 };
  const details = { done: 1 };
  await run.save(checkpoint);
  run.report({ details });
  checkpoint.at = 2;
  details.done = 2;
  t.match(desk.jobs.get(id), { checkpoint: { at: 1 }, progress: { details: { done: 1 } } });
  desk.finish('a');
  const record = await until(async () => {
    const written = JSON.parse(await readFile(path.join(directory, `${id}.json`), 'utf8'));
    return written.state === 'succeeded' ? written : undefined;
  });
  t.match(record, { checkpoint: { at: 1 }, progress: { details: { done: 1 } } });
});

t.test('a waiting or running job can be cancelled, and one after its deadline fails', async t => {
  const { desk, report } = await work(t, 'deadlineMs: 60_000,');
  const running = await desk.jobs.start('a');
  const waiting = await desk.jobs.start('b');
  const lost = desk.jobs.run('b');
  t.match(await desk.jobs.cancel(waiting.id), { state: 'cancelled', startedAt: null, error: { code: 'cancelled' } });
  await t.rejects(lost, { status: 409, message: /cancelled/ });
  t.match(await desk.jobs.cancel(running.id), { state: 'cancelled' });
  t.match(await desk.jobs.cancel(running.id), { state: 'cancelled' }, 'again');
  t.equal(await desk.jobs.cancel('0'.repeat(32)), undefined);
  t.same(desk.begun, ['a'], 'what was cancelled while it waited never ran');
  t.same(report()?.errors, {}, 'that is no fault');

  desk.deaf.add('c');
  const done = await desk.jobs.start('c');
  const end = desk.jobs.cancel(done.id);
  desk.finish('c', 'all the same');
  t.match(await end, { state: 'succeeded' }, 'what was done is told as it is');
});

t.test('work that ignores its signal still counts as running, while its job has ended', async t => {
  const { desk, report } = await work(t, 'graceMs: 50,');
  desk.deaf.add('a');
  const { id } = await begin(desk, 'a');
  t.match(await desk.jobs.cancel(id), { state: 'cancelled' });
  t.equal(report()?.errors.job, 1);
  t.match(await desk.jobs.start('a'), { state: 'queued' }, 'its key is free, its place is not');
  await t.rejects(desk.jobs.start('b', null, { queue: false }), { status: 409, message: /busy/ });
  const { finish } = desk;
  t.same(desk.begun, ['a']);
  desk.deaf.delete('a');
  finish('a', 'too late');
  await until(() => desk.begun.length === 2);
  t.match(desk.jobs.get(id), { state: 'cancelled', error: { code: 'cancelled' } });
});

t.test('work that exceeds its deadline fails as late', async t => {
  const { desk, report } = await work(t, 'deadlineMs: 50,');
  await t.rejects(desk.jobs.run('a'), { status: 503, code: 'late', message: /deadline/ });
  t.match(desk.jobs.list()[0], { state: 'failed', error: { code: 'late' } });
  t.equal(report()?.errors.job, 1);
});
