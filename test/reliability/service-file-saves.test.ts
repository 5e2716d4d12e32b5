// Saves of a service's own file: killed at any moment, on a full disk, on a read-only disk, of one that has an
// attribute of its file system, and of a single mounted file.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const PLUGINS = [
  'config',
  'process',
  'config-files',
  'format-json',
  'format-xml',
  'format-yaml',
  'format-conf',
  'format-python',
];

const run = promisify(execFile);
const isHere = ['config-files', 'format-yaml'].every(name =>
  existsSync(new URL(`../../plugins/${name}/index.ts`, import.meta.url)),
);
const asRoot = process.getuid?.() === 0;
const KILLS = 6;
const MAX_DELAY_MS = 40;
const TAIL = `# the end\n${'# filler\n'.repeat(2_000)}`;
const LARGE_TAIL = '# filler\n'.repeat(20_000);

const block = (dir: string) => ({
  service: {
    process_name: 'Service',
    command: ['sleep', '1'],
    config_dir: dir,
    config_file: path.join(dir, 'service.yaml'),
  },
});

t.test('killed again and again while saving', { skip: !isHere }, async t => {
  const configDir = testDir(t, { own: { 'service.yaml': `count: 0\n${TAIL}` } });
  const own = path.join(configDir, 'own');
  const file = path.join(own, 'service.yaml');
  const port = await writeConfig(configDir, block(own));
  let last = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const host = await startStackwarden(configDir, port, { plugins: PLUGINS });
    let running = true;
    const saving = (async () => {
      for (let count = last + 1; running; count += 1) {
        await fetch(`http://127.0.0.1:${port}/config/service-config`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ service_name: 'Service', updates: { count } }),
        }).catch(() => undefined);
      }
    })();
    const before = await readFile(file, 'utf8');
    await until(async () => (await readFile(file, 'utf8')) !== before, { what: 'a save' });
    // The moment is the subject here: every one of them must do.
    await delay(Math.random() * MAX_DELAY_MS);
    host.child.kill('SIGKILL');
    await host.exited;
    running = false;
    await saving;
    const text = await readFile(file, 'utf8');
    const [, number] = /^count: (\d+)\n/.exec(text) ?? [];
    t.equal(text, `count: ${number}\n${TAIL}`, 'whole');
    t.ok(Number(number) >= last, 'never older than what was there before');
    last = Number(number);
  }
  t.ok(last > 0, 'saves did happen');
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(() => app.stop());
  await app.post('/config/service-config', { service_name: 'Service', updates: { count: -1 } });
  t.same(await readdir(own), ['service.yaml'], 'the next save removes what was left beside the file');
});

t.test('a disk that is full, then read-only', { skip: !isHere || !asRoot }, async t => {
  const outside = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  await chmod(outside, 0o755);
  const small = path.join(outside, 'small');
  await mkdir(small);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', small]);
  const file = path.join(small, 'service.yaml');
  const text = `count: 0\n${LARGE_TAIL}`;
  await writeFile(file, text);
  await chmod(file, 0o640);
  const app = await startHost({ plugins: PLUGINS, config: block(small) });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', small]);
    await rm(outside, { recursive: true });
  });
  const save = () => app.post('/config/service-config', { service_name: 'Service', updates: { count: 1 } });
  const refusal = (reason: string) =>
    `The file stays as it was, because it cannot be written: ${reason}; mend that, and save again`;
  const full = refusal('no space left on device, or no inode');
  t.match(await save(), { status: 503, body: { detail: full } });
  t.equal(await readFile(file, 'utf8'), text);
  t.same(await readdir(small), ['service.yaml'], 'and nothing is left beside it');
  await run('mount', ['-o', 'remount,size=2m,ro', small]);
  t.match(await save(), { status: 503, body: { detail: refusal('read-only file system') } });
  await run('mount', ['-o', 'remount,rw', small]);
  t.match(await save(), { status: 200, body: { changed: 1 } });
  t.equal((await stat(file)).mode & 0o777, 0o640, 'its permissions are kept');
});

t.test('what has an attribute against changes stays as it is, and the refusal names it', { skip: !asRoot }, async t => {
  const root = testDir(t, { own: { 'service.yaml': 'count: 0\n' }, config: {} });
  const [own, configDir] = [path.join(root, 'own'), path.join(root, 'config')];
  const [file, main] = [path.join(own, 'service.yaml'), path.join(configDir, 'stackwarden.json')];
  await writeFile(main, JSON.stringify({ dumb: { gateway: { enabled: false } }, ...block(own) }));
  const app = await startHost({ plugins: PLUGINS, configDir });
  const places = [file, own, main, configDir];
  t.teardown(async () => {
    for (const place of places) await run('chattr', ['-i', '-a', place]).catch(() => undefined);
    await app.stop();
  });
  const saveFile = () => app.post('/config/service-config', { service_name: 'Service', updates: { count: 1 } });
  const saveMain = () =>
    app.post('/config', { process_name: 'Service', updates: { env: { COUNT: '1' } }, persist: true });
  const refusal = { status: 503, body: { detail: /operation not permitted, .* chattr -i ends/ } };
  const texts = await Promise.all([readFile(file, 'utf8'), readFile(main, 'utf8')]);
  for (const attribute of ['i', 'a'])
    for (const place of places) {
      const isSet = await run('chattr', [`+${attribute}`, place]).catch(() => false);
      if (isSet === false) return t.comment('this file system has no such attributes');
      t.match(await (places.indexOf(place) < 2 ? saveFile() : saveMain()), refusal, `+${attribute} ${place}`);
      await run('chattr', [`-${attribute}`, place]);
      t.same(await Promise.all([readFile(file, 'utf8'), readFile(main, 'utf8')]), texts);
    }
  t.match([await saveFile(), await saveMain()], [{ status: 200 }, { status: 200 }], 'then both are saved');
  t.same(await readdir(own), ['service.yaml']);
});

t.test('a single file that is mounted', { skip: !isHere || !asRoot }, async t => {
  const outside = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  await chmod(outside, 0o755);
  const [real, own] = [path.join(outside, 'real.yaml'), path.join(outside, 'own')];
  await mkdir(own);
  await writeFile(real, 'count: 0 # mine\n');
  const file = path.join(own, 'service.yaml');
  await writeFile(file, '');
  await run('mount', ['--bind', real, file]);
  const app = await startHost({ plugins: PLUGINS, config: block(own) });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', file]);
    await rm(outside, { recursive: true });
  });
  const saved = await app.post('/config/service-config', { service_name: 'Service', updates: { count: 1 } });
  t.match(saved, { status: 200, body: { changed: 1 } });
  t.equal(await readFile(real, 'utf8'), 'count: 1 # mine\n', 'the file outside is the one that changed');
});
