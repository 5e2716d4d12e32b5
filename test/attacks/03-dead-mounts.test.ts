// Line 3: a mount that has died, wherever the configuration names a place on it, costs what lies on it and nothing
// else: each route ends with a sentence, and meanwhile everything else is answered.
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { openConfig } from '../../core/config/open.ts';
import { programOf } from '../support/debian.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { start } from '../support/kids.ts';
import { mountLinks } from '../support/link-mount.ts';
import { ROOT_ONLY } from '../support/race.ts';
import { freePort, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = [
  'config',
  'config-files',
  'env-files',
  'format-conf',
  'format-yaml',
  'gateway',
  'health',
  'logs',
  'process',
  'service-postgres',
  'services',
  'setup',
  'symlinks',
];

t.test('what lies on a dead mount is told, and holds up nothing', { ...ROOT_ONLY, timeout: 400_000 }, async t => {
  const { dir, mount } = await mountLinks(t);
  await chmod(dir, 0o755);
  const dead = (...parts: string[]) => path.join(mount, 'hang', ...parts);
  await mkdir(path.join(dir, 'config'));
  await writeFile(path.join(dir, 'fine.yaml'), 'name: 1\n');
  const blocks: Record<string, object> = {
    Fine: { config_dir: dir, config_file: path.join(dir, 'fine.yaml') },
    File: { config_dir: dir, config_file: dead('a.yaml') },
    Directory: { config_dir: dead('own'), config_file: dead('own/a.yaml') },
    Log: { config_dir: dead('log'), log_file: dead('log/a.log') },
    Variables: { env_file: dead('env') },
    Copy: { env_copy: { source: dead('from'), destination: path.join(dir, 'to') } },
    CopyTo: { env_copy: { source: path.join(dir, 'fine.yaml'), destination: dead('to') } },
    Program: { command: [dead('program')] },
    Way: { wait_for_dir: dead('way'), wait_timeout_seconds: 1 },
    PostgreSQL: { config_dir: dead('data'), config_file: dead('data/postgresql.conf'), run_directory: dead('run') },
  };
  const block = ([name, more]: [string, object]) => [
    name === 'PostgreSQL' ? 'postgres' : name.toLowerCase(),
    { enabled: false, process_name: name, command: ['sleep', '600'], ...more },
  ];
  const port = await freePort();
  const app = await startHost({
    plugins: PLUGINS,
    configDir: path.join(dir, 'config'),
    config: {
      data_root: dead('data-root'),
      dumb: {
        api_service: { file_roots: [dead('roots'), dir] },
        gateway: { enabled: true, port, static_dir: dead('pages') },
      },
      ...Object.fromEntries(Object.entries(blocks).map(block)),
    },
  });
  t.teardown(() => app.stop());
  const post = (route: string, name: string, more = {}) => app.post(route, { ...more, service_name: name });
  const asked = Object.keys(blocks).flatMap(name => {
    const query = `process_name=${encodeURIComponent(name)}`;
    return [
      app.get(`/logs?${query}`),
      app.get(`/process/service-status?include_health=true&${query}`),
      app.post('/config', { process_name: name, updates: { suppress_logging: true } }),
      post('/config/service-config', name),
      post('/config/service-config', name, { updates: { name: 2 } }),
      ...(name === 'Fine' ? [] : [start(app, name)]),
    ];
  });
  let isOver = false;
  const answered = Promise.all(asked).finally(() => {
    isOver = true;
  });
  let rounds = 0;
  for (; rounds < 3 || !isOver; rounds += 1) {
    const { status, body } = await app.post('/config/service-config', { service_name: 'Fine' });
    t.match({ status, body }, { status: 200, body: { config: { name: Number } } }, 'another file is read');
    t.equal((await app.get('/process/processes')).status, 200);
  }
  const answers = await answered;
  for (const { status, body } of answers.filter(answer => answer.status >= 500))
    t.match(body.detail, /does not answer|did not become available/, `${status}`);
  const refused = answers.filter(({ text }) => /does not answer|did not become available/.test(text));
  t.ok(refused.length >= 11, `${refused.length} answers name what is dead`);
  const page = await fetch(`http://127.0.0.1:${port}/`);
  t.match([page.status, await page.text()], [200, /Stackwarden/], 'the gateway has a page of its own');
  const served = await fetch(`http://127.0.0.1:${port}/index.html`);
  t.equal(served.status, 404, 'and what it serves is not there');
  await served.text();
});

/** The callbacks of all intervals that begin from now on, so that the test can make their next calls at once. */
function intervalsOf(t: Test): readonly (() => void)[] {
  const callbacks: (() => void)[] = [];
  const { setInterval: plain } = globalThis;
  globalThis.setInterval = ((callback: () => void, ms: number) => {
    callbacks.push(callback);
    return plain(callback, ms);
  }) as typeof setInterval;
  t.teardown(() => {
    globalThis.setInterval = plain;
  });
  return callbacks;
}

t.test(
  'a configuration file on a dead mount is told, and holds up nothing',
  { ...ROOT_ONLY, timeout: 100_000 },
  async t => {
    const { dir, mount } = await mountLinks(t);
    const file = path.join(dir, 'stackwarden.json');
    await writeFile(file, '{ "tz": "first" }');
    const told: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void told.push(message) };
    const polls = intervalsOf(t);
    const config = await openConfig({ configDir: dir, log, env: {} });
    t.teardown(() => config.close());
    await config.startWatching();
    await rename(file, `${file}~`);
    await symlink(path.join(mount, 'hang/stackwarden.json'), file);
    // More looks than there are threads for files.
    for (let round = 0; round < 8; round += 1) for (const poll of polls) poll();
    const save = () => config.store.update({ updates: { tz: 'second' }, persist: true, actor: 'test' });
    await t.rejects(save(), { status: 503, message: /cannot be read \(.* does not answer; look after its mount/ });
    t.match(await readFile(`${file}~`, 'utf8'), /first/, 'another file is read');
    t.equal(config.store.get('tz'), 'first');
    await until(() => told.length > 0, { what: 'the line that tells of it' });
    t.match(told, [/cannot be read any more.* does not answer/]);
    await rename(`${file}~`, file);
    await save();
    t.match(JSON.parse(await readFile(file, 'utf8')), { tz: 'second' });
    t.equal(told.length, 1);
  },
);

t.test('a mount with open logs that dies holds up no launch', { ...ROOT_ONLY, timeout: 200_000 }, async t => {
  const rclone = await programOf(['rclone'], ['rclone']);
  await programOf(['fusermount3', 'fusermount'], ['fuse3']);
  const dir = testDir(t, { remote: {}, mount: {}, config: {}, cache: {} });
  const [mount, configDir] = [path.join(dir, 'mount'), path.join(dir, 'config')];
  const ticker = ['sh', '-c', 'echo tick; exec sleep 600'];
  const port = await writeConfig(configDir, {
    dumb: { log_dir: mount },
    ticker: { process_name: 'Ticker', command: ticker, log_file: path.join(mount, 'ticker.log') },
    other: { process_name: 'Other', command: ['sleep', '600'], log_file: path.join(dir, 'other.log') },
  });
  // On a mount table of its own, because others on this machine look at every mount.
  const serve = `${rclone} mount "$0/remote" "$0/mount" --cache-dir "$0/cache" --vfs-cache-mode writes --allow-other >/dev/null 2>&1`;
  const isMounted = 'until grep -q "$0/mount" /proc/self/mountinfo; do sleep 0.1; done';
  const prepare = `${serve} & echo $! > "$0/pid"; ${isMounted}; exec "$@"`;
  const host = await startStackwarden(configDir, port, {
    plugins: ['config', 'health', 'logs', 'process'],
    within: ['unshare', '--mount', 'sh', '-c', prepare, dir],
  });
  const server = Number(await readFile(path.join(dir, 'pid'), 'utf8'));
  t.teardown(() => process.kill(server, 'SIGKILL'));
  const begin = async (name: string) => {
    const body = JSON.stringify({ process_name: name });
    const headers = { 'content-type': 'application/json' };
    return fetch(`${host.base}/process/start-service`, { method: 'POST', headers, body });
  };
  const isHealthy = () => fetch(`${host.base}/health`).then(({ status }) => status === 200);
  t.equal((await begin('Ticker')).status, 200);
  const written = async (text: string): Promise<boolean> => {
    const seen = path.join(`/proc/${host.child.pid}/root`, mount);
    const texts = await Promise.all((await readdir(seen)).map(file => readFile(path.join(seen, file), 'utf8')));
    return texts.join('').includes(text);
  };
  // What is on its way to a mount when that dies stays open.
  for (const text of ['tick', 'Ticker runs as pid']) await until(() => written(text), { what: text });
  process.kill(server, 'SIGSTOP');
  const started = begin('Other');
  for (let round = 0; round < 3; round += 1) t.ok(await until(isHealthy), 'it answers while the mount does not');
  t.equal((await started).status, 200);
  process.kill(server, 'SIGCONT');
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
});
