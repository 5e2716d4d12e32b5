// A disk that cannot sync a directory after a file in it was replaced: the new content is there for everybody, so no
// answer may say that nothing was changed.
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { work } from '../support/job-desk.ts';
import { until } from '../support/until.ts';

interface Handle {
  stat(): Promise<{ isDirectory(): boolean }>;
  sync(): Promise<void>;
}

/** Lets the sync of each directory fail from now on. */
async function breakDirectories(test: Pick<Test, 'teardown'>): Promise<void> {
  const handle = await open('/');
  const prototype: Handle = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  test.teardown(() => Object.assign(prototype, { sync }));
  Object.assign(prototype, {
    async sync(this: Handle) {
      if ((await this.stat()).isDirectory())
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5 });
      return sync.call(this);
    },
  });
}

t.test('a job that was refused is not found by the next host', async t => {
  const { desk, directory } = await work(t, 'keep: { records: 5 }, resume: true');
  await breakDirectories(t);
  const outcomes = await Promise.allSettled([desk.jobs.start('one'), desk.jobs.start('one')]);
  t.match(outcomes, Array(2).fill({ status: 'rejected', reason: { status: 503 } }), 'whoever shares it is refused too');
  await until(async () => (await readdir(directory)).length === 0, { what: 'the record to be removed' });
  t.same(desk.jobs.list(), []);
});

t.test('an answer tells what the files hold', async t => {
  const configDir = testDir(t, { own: { 'service.json': '{"count": 0}' } });
  const own = path.join(configDir, 'own');
  const file = path.join(configDir, 'stackwarden.json');
  const app = await startHost({
    configDir,
    plugins: ['config', 'process', 'auth', 'config-files', 'format-json'],
    config: {
      service: {
        process_name: 'Service',
        command: ['sleep', '1'],
        config_dir: own,
        config_file: path.join(own, 'service.json'),
      },
    },
  });
  t.teardown(() => app.stop());
  await app.post('/config/service-config', { service_name: 'Service', updates: { count: 1 } });
  await breakDirectories(t);

  const saved = await app.post('/config', { updates: { dumb: { log_level: 'DEBUG' } } });
  t.match(saved, {
    status: 200,
    body: {
      persisted: true,
      warnings: [`${file} is written, but a loss of power may take that back (i/o error); see to its disk`],
    },
  });
  t.match(await readFile(file, 'utf8'), /DEBUG/);
  t.equal((await app.get('/config')).body.dumb.log_level, 'DEBUG');

  const created = await app.post('/auth/setup', { username: 'ann', password: 'correct horse' });
  t.equal(created.status, 200);
  const { users } = JSON.parse(await readFile(path.join(configDir, 'users.json'), 'utf8'));
  t.match(users, [{ username: 'ann' }]);
  t.equal((await app.post('/auth/login', { username: 'ann', password: 'correct horse' })).status, 200);
});

t.test('a file that must be laid out anew holds the change, and its copy what it was', async t => {
  const text = 'dumb:\n    log_level: !!str &level INFO\n    gateway: { enabled: false }\n';
  const configDir = testDir(t, { 'stackwarden.yaml': text });
  const app = await startHost({ configDir, plugins: ['config'] });
  t.teardown(() => app.stop());
  const file = path.join(configDir, 'stackwarden.yaml');
  const before = `# as it was\n${text}`;
  await writeFile(file, before);
  await breakDirectories(t);
  const unsynced = (name: string) =>
    `${name} is written, but a loss of power may take that back (i/o error); see to its disk`;
  t.match(await app.post('/config', { updates: { dumb: { log_level: 'DEBUG' } } }), {
    status: 200,
    body: { persisted: true, warnings: [unsynced(`${file}.bak`), unsynced(file), /was laid out anew/] },
  });
  t.match(await readFile(file, 'utf8'), /log_level: .*DEBUG/);
  t.equal(await readFile(`${file}.bak`, 'utf8'), before);
});
