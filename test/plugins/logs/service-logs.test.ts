// Every service has a log of its own: its place without configuration, the form of its lines, and how a log with a date
// in its name is followed.
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { NOBODY, ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

/** The form in which the web frontend reads a line: time, level, service and text. */
const READER = /^(\w{3} \d{1,2}, \d{4} \d\d:\d\d:\d\d) - (\w+) - (?:(.+?) subprocess: )?(.*)$/;

const DAEMON = 1;

const speaker = (process_name: string, text: string, more: object = {}) => ({
  enabled: false,
  process_name,
  command: ['sh', '-c', `echo '${text}'; exec sleep 600`],
  stop_grace_seconds: 1,
  ...more,
});

async function open(t: Test, config: Record<string, unknown>): Promise<{ app: TestHost; dir: string; logDir: string }> {
  const dir = testDir(t, { logs: {} });
  await chmod(dir, 0o755);
  const logDir = path.join(dir, 'logs');
  const app = await startHost({
    plugins: ['config', 'process', 'logs', 'services'],
    config: { dumb: { log_dir: logDir }, ...config },
  });
  t.teardown(() => app.stop());
  return { app, dir, logDir };
}

const pageOf = async (app: TestHost, name: string, more = '') =>
  (await app.get(`/logs?process_name=${encodeURIComponent(name)}${more}`)).body;
const savedText = (app: TestHost) => readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8');

t.test('a service without log_file has a default log, which is not written to the file', async t => {
  const { app, logDir } = await open(t, {
    films: speaker("Films & 'Series'", 'WARNING shown', { suppress_logging: true }),
    twin: speaker('films series', 'the other'),
    named: speaker('Named', 'INFO below', { log_file: 'sub/named.log' }),
    silent: speaker('Silent', 'nowhere', { log_file: '' }),
    dotted: speaker('Dotted', 'WARNING shown', { log_file: '..dotted.log' }),
    outside: speaker('Outside', 'x', { log_file: '../outside.log' }),
  });
  const { body } = await app.get('/config');
  const file = path.join(logDir, 'films-series.log');
  t.same(
    ['films', 'twin', 'named', 'silent'].map(key => body[key].log_file),
    [file, path.join(logDir, 'films-series_2.log'), 'sub/named.log', ''],
  );
  t.equal(body.dumb.api_service.log_file, undefined, 'the host has its own log');
  const entry = await app.get(`/process?process_name=${encodeURIComponent("Films & 'Series'")}`);
  t.equal(entry.body.config.log_file, file, 'what the frontend shows a log tab for');

  for (const name of ["Films & 'Series'", 'Named', 'Dotted']) {
    await start(app, name);
    const { log } = await until(async () => {
      const page = await pageOf(app, name);
      return page.log === '' ? null : page;
    });
    const [, time = '', level, whose, text] = READER.exec(log.trim()) ?? [];
    t.notOk(Number.isNaN(Date.parse(time)), time);
    t.same([level, whose], [name === 'Named' ? 'INFO' : 'WARNING', name]);
    t.equal(text, name === 'Named' ? 'INFO below' : 'WARNING shown');
  }
  t.match(await readFile(path.join(logDir, 'sub', 'named.log'), 'utf8'), 'Named subprocess: INFO below');
  t.match(await readFile(file, 'utf8'), 'WARNING shown');
  t.equal((await app.get('/logs?process_name=Outside')).status, 403, 'a relative name leads nowhere else');

  await app.post('/config', { process_name: "Films & 'Series'", updates: { log_level: 'ERROR' }, persist: true });
  t.match(await savedText(app), '"log_level": "ERROR"');
  t.notMatch(await savedText(app), 'films-series');
  const whole = (await app.get(`/process?process_name=${encodeURIComponent("Films & 'Series'")}`)).body.config;
  await app.post('/config', { process_name: "Films & 'Series'", updates: whole, persist: true });
  t.notMatch(await savedText(app), 'films-series', 'nor when an editor sends back all that it was shown');
  const added = { updates: { later: speaker('Later', 'x') }, persist: false };
  t.equal((await app.post('/config', added)).status, 200);
  t.equal((await app.get('/config')).body.later.log_file, path.join(logDir, 'later.log'), 'in memory alone, too');
});

t.test('a log outside of the log directory is shown when the user of its service may read it', ROOT_ONLY, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-logs-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  const [own, all] = [path.join(dir, 'own'), path.join(dir, 'all')];
  for (const place of [own, all]) await mkdir(place);
  await writeFile(path.join(own, 'own.log'), 'own\n');
  await writeFile(path.join(own, 'own-2025-01-02_1.log'), 'older\n');
  await writeFile(path.join(all, 'all.log'), 'all\n');
  for (const place of [path.join(own, 'own.log'), path.join(own, 'own-2025-01-02_1.log'), own])
    await chown(place, DAEMON, DAEMON);
  await chown(path.join(all, 'all.log'), NOBODY, NOBODY);
  for (const file of [path.join(own, 'own.log'), path.join(all, 'all.log')]) await chmod(file, 0o600);
  await chmod(own, 0o700);
  const block = (process_name: string, config_dir: string, user = '') =>
    speaker(process_name, 'x', {
      config_dir,
      log_file: path.join(config_dir, `${path.basename(config_dir)}.log`),
      user,
    });
  const { app } = await open(t, {
    named: block('Named', own, 'daemon'),
    other: block('Other', own),
    usual: block('Usual', all),
    foreign: block('Foreign', all, 'daemon'),
    nobody: block('Nobody', all, 'no-such-user'),
  });
  for (const [name, chunk] of [
    ['Named', 'own\n'],
    ['Other', ''],
    ['Usual', 'all\n'],
    ['Foreign', ''],
    ['Nobody', 'all\n'],
  ] as const)
    t.equal((await pageOf(app, name)).chunk, chunk, name);
  const { ino, dev } = await stat(path.join(own, 'own-2025-01-02_1.log'));
  const former = `${dev.toString(16)}:${ino.toString(16)}`;
  t.equal((await pageOf(app, 'Named', `&cursor=0&file_id=${former}&rest=true`)).rest, 'older\n');
});

t.test('services with names in other scripts have different logs', async t => {
  const { app } = await open(t, { first: speaker('映画', 'of the first'), second: speaker('音楽', 'of the second') });
  const named = async (name: string) => (await app.get(`/process?process_name=${encodeURIComponent(name)}`)).body;
  const file = (await named('音楽')).config.log_file;
  for (const name of ['映画', '音楽']) {
    await start(app, name);
    await until(async () => (await pageOf(app, name)).log !== '');
  }
  const { first: _gone, ...rest } = JSON.parse(await savedText(app));
  await writeFile(path.join(app.configDir, 'stackwarden.json'), JSON.stringify(rest));
  await until(async () => (await named('映画')).detail !== undefined);
  t.equal((await named('音楽')).config.log_file, file);
  const { log } = await pageOf(app, '音楽');
  t.match(log, 'of the second');
  t.notMatch(log, 'of the first');
});

t.test('check and the start report a log outside of the directories of its service', async t => {
  const { app, dir } = await open(t, {
    films: speaker('Films', 'x', { enabled: true, log_file: '../outside.log' }),
    shown: speaker('Shown', 'x', { enabled: true, log_file: 'shown.log' }),
    later: speaker('Later', 'x', { log_file: '/nowhere/later.log' }),
  });
  const problem = `films.log_file: ${dir}/outside.log lies outside the directories of Films; keep its log below`;
  const { problems } = await app.host.reviewConfig();
  t.match(problems, [new RegExp(`^${problem} `)]);
  t.equal(problems.length, 1);
  await start(app, 'Later');
  const { chunk } = await until(async () => {
    const page = await pageOf(app, 'DUMB');
    return page.chunk.includes('later.log_file: /nowhere/later.log lies outside') && page;
  });
  t.match(chunk, ` - WARNING - logs: ${problem}`);
});

t.test('the log of the host is that of no service', async t => {
  const { app, dir } = await open(t, {
    films: speaker('Films', 'x', { log_file: 'films.log' }),
    taken: speaker('Taken', 'x', { enabled: true, log_file: 'DUMB-2025-01-01.log' }),
  });
  await symlink(path.join(dir, 'logs'), path.join(dir, 'linked'));
  const update = (log_file: string) =>
    app.post('/config', { process_name: 'Films', updates: { config_dir: dir, log_file } });
  for (const file of ['DUMB-2025-01-01.log', path.join(dir, 'linked/DUMB-2025-01-01_1.log')])
    t.match(await update(file), {
      status: 400,
      body: { detail: new RegExp(`${file} is called like a log of Stackwarden itself; choose another name, `) },
    });
  for (const file of ['dumb.log', 'DUMBO-2025.log', path.join(dir, 'DUMB-2025-01-01.log')])
    t.equal((await update(file)).status, 200, file);

  t.match((await app.host.reviewConfig()).problems, [/^taken.log_file: .*DUMB-2025-01-01.log is called like a log of/]);
  const other = await app.post('/config', { process_name: 'Taken', updates: { log_level: 'DEBUG' } });
  t.match(other, { status: 200 }, 'what was there stands in the way of no other change');
});

t.test('the newest file is read and followed when the name has a date', async t => {
  const { app, dir } = await open(t, { mine: speaker('Mine', 'said', { log_file: 'mine-<date>.log' }) });
  const at = (name: string) => path.join(dir, 'jellyfin', 'log', name);
  const write = async (file: string, text: string, ageS: number) => {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'a' });
    const time = Date.now() / 1_000 - ageS;
    await utimes(file, time, time);
  };
  await write(at('log_20250101.log'), 'old\n', 100);
  await write(at('log_20250102.log'), 'new\n', 50);
  await write(at('FFmpeg.Transcode-2025.log'), 'a film\n', 1);
  t.match((await app.get('/config')).body.jellyfin.log_file, /\/log_<date>\.log$/, 'as the template says');
  const config_dir = path.join(dir, 'jellyfin');
  await app.post('/config', { updates: { jellyfin: { config_dir, log_file: at('log_<date>.log') } } });
  const first = await pageOf(app, 'Jellyfin Media Server');
  t.equal(first.log, 'new\n');
  const next = (page: { cursor: number; file_id: string }) =>
    pageOf(app, 'Jellyfin Media Server', `&cursor=${page.cursor}&file_id=${page.file_id}`);
  await write(at('log_20250102.log'), 'more\n', 40);
  const second = await next(first);
  t.match(second, { chunk: 'more\n', reset: false });
  await write(at('log_20250103.log'), 'the next day\n', 10);
  t.match(await next(second), { chunk: 'the next day\n', reset: true });

  await app.post('/config', { process_name: 'Jellyfin Media Server', updates: { log_file: at('jellyfin.log') } });
  t.equal((await pageOf(app, 'Jellyfin Media Server')).log, 'the next day\n', 'also where it is called as it once was');

  await start(app, 'Mine');
  t.equal((await pageOf(app, 'Mine')).log, '', 'the host writes no file that is called after a pattern');
});
