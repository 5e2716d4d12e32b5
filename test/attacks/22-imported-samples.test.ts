// Lines of an earlier program's files are foreign text: those that are no sample are left out, and what is kept of the
// others harms no later answer.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

const DEPTH = 1_100_000;
const now = Math.floor(Date.now() / 1_000);
const good = JSON.stringify({ timestamp: now - 60, system: { cpu_percent: 5 } });
const deep = `{"timestamp":${now - 50},"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`;
const odd = [
  `{"timestamp":${now - 40},"__proto__":{"polluted":true},"constructor":7,"system":{"__proto__":{"cpu_percent":1}}}`,
  `{"timestamp":${now - 39},"system":[],"external":{"disk":"full"},"dumb_managed":"all","disk_paths":{"a":null}}`,
  `{"timestamp":${now - 38},"system":{"cpu_percent":"99","mem":[],"net_io":{"bytes_sent":1e999}},"network_interfaces":7}`,
  `{"timestamp":${now - 37},"system":{"disk_paths":[{"path":{"a":1}},null,3],"network_interfaces":[[],{"name":null}]}}`,
  '{"timestamp":1e300,"system":{"cpu_percent":5}}',
  '{"timestamp":9007199254740993}',
  '{"timestamp":4e-320}',
];

t.test('hostile lines', async t => {
  const configDir = testDir(t, { metrics: {} });
  const file = (number: number) => path.join(configDir, 'metrics', `metrics-20260101-${number}.jsonl`);
  await writeFile(file(1), `${deep}\n${good}\n`);
  await writeFile(file(2), `${odd.join('\n')}\n`);
  const app = await startHost({
    configDir,
    config: { dumb: { metrics: { history_enabled: false, history_retention_days: 0 } } },
    plugins: ['metrics-history', 'config'],
  });
  t.teardown(() => app.stop());
  const { status, body } = await app.post('/metrics/history/migrate?force=true');
  t.equal(status, 200);
  t.same(
    body,
    { completed: false, files: 2, samples: 6, skipped: 3 },
    'what nests too deep or is of the future is left out',
  );
  const routes = ['/metrics/history', '/metrics/history_series'].flatMap(route => [
    route,
    `${route}?full=true`,
    `${route}?since=-1e308&limit=50000`,
    `${route}?since=${now - 100}&limit=50000&bucket_seconds=1e-300&max_points=5000`,
    `${route}?full=true&bucket_seconds=1e300&max_points=999999999999`,
    `${route}?since=1e308&max_points=-5`,
    `${route}?since=${'9'.repeat(400)}`,
    `${route}?since=${'1'.repeat(10_000)}`,
  ]);
  for (const route of [...routes, '/metrics/history/storage', '/metrics']) {
    const answer = await app.get(route);
    t.equal(answer.status, /[19]{300}/.test(route) ? 422 : 200, route.slice(0, 60));
  }
  const { items } = (await app.get(`/metrics/history?since=${now - 100}`)).body;
  t.same(
    items.map(({ timestamp }: { timestamp: number }) => now - timestamp),
    [60, 40, 39, 38, 37],
  );
});
