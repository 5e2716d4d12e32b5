// A clock that is ahead for a while costs no samples: age is judged by the clock as it was before. Samples taken
// meanwhile have future times, and hide nothing.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const DAY_S = 86_400;
const { now } = Date;

t.test('samples that are not too old stay while the clock is ahead', async t => {
  t.teardown(() => {
    Date.now = now;
  });
  const configDir = testDir(t, {});
  const nowS = Math.floor(now() / 1_000);
  const times = [6.5 * DAY_S, 5 * DAY_S, DAY_S, 60].map(ageS => nowS - ageS);
  await mkdir(path.join(configDir, 'metrics'));
  const lines = times.map(timestamp => `${JSON.stringify({ timestamp, system: { cpu_percent: 5 } })}\n`);
  await writeFile(path.join(configDir, 'metrics', 'metrics-20260101-1.jsonl'), lines.join(''));
  const app = await startHost({
    configDir,
    plugins: ['metrics-history', 'config'],
    config: { dumb: { metrics: { history_interval_sec: 3_600 } } },
  });
  t.teardown(() => app.stop());
  const kept = async (): Promise<number[]> => {
    const { items } = (await app.get('/metrics/history?full=true')).body;
    return items.map(({ timestamp }: { readonly timestamp: number }) => timestamp);
  };
  await until(async () => (await kept()).length === times.length, { what: 'the samples to be imported' });
  Date.now = () => now() + 60 * DAY_S * 1_000;
  await app.post('/config', { updates: { dumb: { metrics: { history_retention_days: 6 } } } });
  await until(async () => !(await kept()).includes(times[0] ?? 0), { what: 'the oldest to be removed' });
  t.same(await kept(), times.slice(1));
});

t.test('samples with a future time are neither the newest nor part of a chart', async t => {
  const configDir = testDir(t, {});
  const nowS = Math.floor(now() / 1_000);
  const times = [nowS - 600, nowS - 300, nowS - 60];
  const ahead = Array.from({ length: 5 }, (_, index) => nowS + 20 * 3_600 + index);
  await mkdir(path.join(configDir, 'metrics'));
  const lines = [...times, ...ahead].map(timestamp => `${JSON.stringify({ timestamp, system: { cpu_percent: 5 } })}\n`);
  await writeFile(path.join(configDir, 'metrics', 'metrics-20260101-1.jsonl'), lines.join(''));
  const app = await startHost({
    configDir,
    plugins: ['metrics-history', 'config'],
    config: { dumb: { metrics: { history_interval_sec: 3_600 } } },
  });
  t.teardown(() => app.stop());
  const samples = async () => (await app.get('/metrics/history/storage')).body.sqlite.samples;
  await until(async () => (await samples()) === lines.length, { what: 'the samples to be imported' });
  const { items, truncated } = (await app.get('/metrics/history?limit=2')).body;
  t.same([items.map(({ timestamp }: { readonly timestamp: number }) => timestamp), truncated], [times.slice(1), true]);
  const { timestamps, bucket_seconds: bucketSeconds } = (await app.get('/metrics/history_series?full=true')).body;
  t.same([timestamps, bucketSeconds], [times, 5]);
});
