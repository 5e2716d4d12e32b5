// The diagnostics of InfiniDysk from its databases and its log: settings and numbers, and nothing about its providers.
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

const DAEMON = 1;
const MINUTE_MS = 60_000;

function fill(directory: string): void {
  const settings = new Database(path.join(directory, 'db.sqlite'));
  settings.exec('CREATE TABLE ConfigItems (ConfigName TEXT PRIMARY KEY, ConfigValue TEXT)');
  const set = settings.prepare('INSERT INTO ConfigItems VALUES (?, ?)');
  const providers = [
    { Type: 1, Host: 'news.example', User: 'ann', Pass: 'pr0vider-V4lue', MaxConnections: 20 },
    { Type: 1, Host: 'more.example', MaxConnections: 30 },
    { Type: 2, Host: 'backup.example', MaxConnections: 10 },
  ];
  set.run('usenet.providers', JSON.stringify({ Providers: providers }));
  set.run('queue.worker-count', '4');
  set.run('usenet.pipelining.enabled', 'true');
  set.run('usenet.pipelining.depth', 'deep');
  set.run('api.key', 'never-read-V4lue');
  settings.close();
  const metrics = new Database(path.join(directory, 'metrics.sqlite'));
  metrics.exec(`CREATE TABLE SegmentFetches (At INTEGER, Status INTEGER, Retries INTEGER, DurationMs REAL, ReadSessionId TEXT);
    CREATE TABLE ReadSessions (StartedAt INTEGER, BytesServed INTEGER, BytesFetched INTEGER, DurationMs REAL, EndReason INTEGER)`);
  const fetched = metrics.prepare('INSERT INTO SegmentFetches VALUES (?, ?, ?, ?, ?)');
  const now = Date.now();
  for (let index = 0; index < 10; index += 1) {
    fetched.run(now - 5 * MINUTE_MS, index < 8 ? 0 : index - 7, 1, 100, index < 5 ? 'a' : null);
    fetched.run(now - 70 * MINUTE_MS, 0, 0, 50, null);
  }
  metrics.prepare('INSERT INTO ReadSessions VALUES (?, ?, ?, ?, ?)').run(now - 5 * MINUTE_MS, 1_000, 2_000, 250, 3);
  metrics.close();
}

/** Log lines of ten minutes with 13 ended items, an hour after ten minutes with 10. */
function queueLines(): string {
  const bin = 10 * MINUTE_MS;
  const nowMs = Math.floor(Date.now() / bin) * bin - bin;
  const hourAgoMs = nowMs - 60 * MINUTE_MS;
  const line = (atMs: number, text: string) => `${new Date(atMs).toISOString()} [INF] ${text}\n`;
  const item = (number: number) => `Film ${number} (${String(number).padStart(8, '0')}-0000-4000-8000-0123456789ab)`;
  const completed = (atMs: number, number: number) =>
    line(atMs, `Completed queue item ${item(number)} in ${number * 10}.5 seconds`);
  const all = (atMs: number, count: number) =>
    Array.from({ length: count }, (_, index) => completed(atMs + index * 1_000, index + 1)).join('');
  const again = line(nowMs, `Failed queue item ${item(12)} after 700 seconds`);
  const failed = line(nowMs + 20_000, `Failed queue item ${item(13)} after 400 seconds`);
  const played = [100, 400].map(ms =>
    line(nowMs + 30_000, `play-timing nzo=01234567-89ab-4000-8000-0123456789ab open=3ms firstSeg=${ms}ms`),
  );
  return [all(hourAgoMs, 10), again, all(nowMs, 12), failed, ...played].join('');
}

t.test('diagnostics have settings and numbers without secrets', async t => {
  const dir = testDir(t);
  await chmod(dir, 0o755);
  const own = path.join(dir, 'infinidysk');
  await mkdir(own);
  fill(own);
  const log = path.join(own, 'infinidysk.log');
  await writeFile(log, queueLines());
  const asRoot = process.getuid?.() === 0;
  for (const file of asRoot ? ['', 'db.sqlite', 'metrics.sqlite', 'infinidysk.log'] : [])
    await chown(path.join(own, file), DAEMON, DAEMON);
  // Only the service's user may read it.
  await chmod(own, 0o700);
  const user = asRoot ? 'daemon' : '';
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'logs', 'ai', 'ai-ollama', 'service-infinidysk'],
    config: { infinidysk: { enabled: false, process_name: 'InfiniDysk', config_dir: own, log_file: log, user } },
  });
  t.teardown(() => app.stop());
  const ask = async (name: string, more = {}) => {
    const request = { process_name: name, dry_run: true, window_hours: 1, ...more };
    return (await app.post('/ai/diagnose', request)).body.bundle;
  };
  const bundle = await ask('InfiniDysk');
  const { native_diagnostics: native, diagnostic_coverage: coverage } = bundle;
  t.match(native, {
    collector: 'infinidysk',
    available: true,
    config: {
      available: true,
      queue_worker_count: 4,
      max_queue_connections: null,
      total_pooled_connections: 50,
      provider_count: 3,
      pipelining_enabled: true,
      pipelining_depth: null,
    },
    metrics: {
      current: {
        segment_fetches: {
          count: 10,
          ok: 8,
          missing: 1,
          errors: 1,
          retries: 10,
          error_percent: 10,
          retries_per_100: 100,
        },
        read_segment_fetches: { count: 5, ok: 5 },
        read_sessions: { count: 1, bytes_served: 1_000, bytes_fetched: 2_000, errors: 1, error_percent: 100 },
      },
      baseline: { segment_fetches: { count: 10, ok: 10, successful_average_ms: 50 } },
      changes: { segment_fetches: { successful_average_ms_percent: 100 } },
    },
    queue: {
      current: {
        terminal_items: 13,
        completed: 12,
        failed: 1,
        failure_percent: 7.69,
        duration_seconds: { median: 70.5, p90: 118.5, maximum: 400, over_five_minutes: 1 },
        first_segment_ms: { median: 250, p90: 370 },
        busy_period_items_per_hour: { median: 78, average: 78, peak: 78, ten_minute_bins: 1 },
      },
      baseline: { terminal_items: 10, failed: 0, failure_percent: 0 },
      throughput_change_percent: 30,
    },
    limitations: [String, /correlation/],
  });
  t.match(
    bundle.recommendations.find(({ id }: { id: string }) => id === 'investigate-nzbdav-processor-stalls'),
    { reason: /^1 of 13 items/ },
  );
  t.notOk('infinidysk_queue' in bundle);
  const unread = await ask('InfiniDysk', { deep_log_scan: false });
  t.equal(unread.native_diagnostics.queue, undefined, 'no log, no queue');
  t.equal(coverage.native_collector, true);
  t.notMatch(JSON.stringify(native), /V4lue|example|ann/);
  const sonarr = await ask('Sonarr');
  t.match(sonarr.native_diagnostics, { collector: 'sonarr', available: false, reason: String });
  t.equal(sonarr.diagnostic_coverage.native_collector, false);
});
