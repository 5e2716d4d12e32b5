// Bytes that are sent over the network are counted, on a host with a network of its own, in which nothing else is sent.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { spawnStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const MIB = 1_024 * 1_024;
const SENT_BYTES = 32 * MIB;
const PLUGINS = ['config', 'process', 'metrics', 'metrics-history'];

/** Two samples between which so many bytes are sent, and the chart of that time. */
const LOAD = `
const { createServer, connect } = require('node:net');
const { once } = require('node:events');
const { setTimeout: delay } = require('node:timers/promises');
const get = async route => (await fetch(process.env.BASE + route)).json();
(async () => {
  while ((await get('/metrics/history')).items.length < 8) await delay(200);
  const before = await get('/metrics');
  let received = 0;
  const server = createServer(socket => socket.on('data', bytes => { received += bytes.length; })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(server.address().port, '127.0.0.1');
  client.end(Buffer.alloc(${SENT_BYTES}));
  while (received < ${SENT_BYTES}) await delay(5);
  let after = before;
  // The requests of the test are sent too.
  while (after.timestamp <= before.timestamp + 2.5) {
    await delay(500);
    after = await get('/metrics');
  }
  server.close();
  const { items, series, stats } = await get('/metrics/history_series?bucket_seconds=1&since=' + (before.timestamp - 2));
  console.log(JSON.stringify({ before, after, times: items.map(({ timestamp }) => timestamp), series, stats }));
})();`;

t.test('bytes over a connection are counted', { skip: isRoot ? false : 'only root may make networks' }, async t => {
  const ip = await programOf(['ip'], ['iproute2']);
  const config = testDir(t, {});
  const metrics = { history_interval_sec: 0.5, network_interfaces: ['lo', 'none0'] };
  const port = await writeConfig(config, { dumb: { metrics } });
  const within = ['unshare', '--net', 'sh', '-c', `${ip} link set lo up && exec "$@"`, 'sh'];
  const { child, stdout, exited } = spawnStackwarden(config, { args: ['start', '--plugins', PLUGINS.join()], within });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  await until(() => stdout().includes(`answers on http://127.0.0.1:${port}`), { what: 'the host to answer' });
  const load = await run('nsenter', ['--target', String(child.pid), '--net', process.execPath, '-e', LOAD], {
    env: { ...process.env, BASE: `http://127.0.0.1:${port}`, NODE_OPTIONS: '' },
    timeout: 240_000,
  });
  const { before, after, times, series, stats }: Body = JSON.parse(load.stdout);
  const about = (bytes: number, what: string) =>
    t.ok(bytes >= SENT_BYTES && bytes < SENT_BYTES * 1.05, `${what}: ${bytes} of ${SENT_BYTES}`);
  for (const counter of ['sent_bytes', 'recv_bytes']) {
    about(after.system.net_io[counter] - before.system.net_io[counter], counter);
    const [lo, none] = after.system.network_interfaces;
    t.equal(lo[counter], after.system.net_io[counter], 'what is gone adds nothing');
    t.equal(none[counter], null);
  }
  const total = (rates: readonly (number | null)[]) =>
    rates.reduce<number>((sum, rate, index) => sum + (rate ?? 0) * (times[index] - (times[index - 1] ?? 0)), 0);
  about(total(series.net_sent_rate), 'a rate for so long');
  about(total(series.network_interfaces.lo.recv_rate), 'that of the interface');
  t.ok(stats.net_sent_rate.max >= Math.max(...series.net_sent_rate), 'and no peak is lost');
});
