// `stdin: true`: input from requests reaches the service, also after another host has adopted it.
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { removeOtherPipes } from '../../../plugins/process/supervise/input-pipe.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const block = (processName: string, script: string, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sh', '-c', script],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('input reaches the service, also after an adoption', async t => {
  const configDir = testDir(t, {});
  const app = await startHost({
    configDir,
    config: {
      echo: block('Echo', 'while read -r line; do echo "got $line"; done; echo over', { stdin: true }),
      named: block('Named', 'read -r line < /dev/stdin; echo "named $line"; sleep 600', { stdin: true }),
      deaf: block('Deaf', 'sleep 600', { stdin: true }),
      plain: block('Plain', 'cat; sleep 600'),
    },
  });
  const write = (name: string, text: string, host = app) => host.post('/process/input', { process_name: name, text });
  const log = (name: string) => readFile(path.join(configDir, 'log', `${name}.log`), 'utf8');
  const shown = (name: string, line: string) =>
    until(async () => (await log(name)).includes(`${line}\n`), { what: line });
  const pipes = async () => (await readdir(path.join(configDir, 'supervisor'))).filter(name => name.endsWith('.stdin'));

  for (const name of ['Echo', 'Named', 'Deaf', 'Plain']) t.match(await start(app, name), { status: 200 });
  t.match(await write('Echo', 'one\ntwo\n'), { status: 200, body: { process_name: 'Echo' } });
  await shown('echo', 'got two');
  await write('Named', 'three\n');
  await shown('named', 'named three');
  t.match(await write('Plain', 'x'), { status: 409, body: { detail: /set stdin to true and restart it/ } });
  t.match(await write('Deaf', 'x'.repeat(65_536)), { status: 200 });
  t.match(await write('Deaf', 'y'), {
    status: 409,
    body: { detail: /does not read its input: 0 of 1 bytes were taken/ },
  });
  t.match(await write('Echo', 'z'.repeat(65_537)), { status: 422 });
  t.match(await write('Nobody', 'x'), { status: 404 });
  t.equal((await pipes()).length, 3);
  await stop(app, 'Deaf');
  t.match(await write('Deaf', 'x'), { status: 409, body: { detail: /does not run; start it/ } });
  t.equal((await pipes()).length, 2);

  const pid = await pidOf(app, 'Echo');
  await app.host.stop('fault');
  const next = await startHost({ configDir });
  t.teardown(() => next.stop());
  await until(async () => (await write('Echo', 'four\n', next)).status === 200, { what: 'the adoption' });
  await shown('echo', 'got four');
  t.equal(await pidOf(next, 'Echo'), pid);
  t.notMatch(await log('echo'), 'over');
});

t.test('concurrent texts are written one after the other', async t => {
  const script = 'while read -r line; do printf "%s\\n" "$line" | tr -s a-z; done';
  const app = await startHost({ config: { kid: block('Kid', script, { stdin: true }) } });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  const letters = [...'abcd'];
  const answers = await Promise.all(
    letters.map(letter => app.post('/process/input', { process_name: 'Kid', text: `${letter.repeat(60_000)}\n` })),
  );
  t.same(
    answers.map(({ status: code }) => code),
    letters.map(() => 200),
  );
  await app.post('/process/input', { process_name: 'Kid', text: 'over\n' });
  const log = () => readFile(path.join(app.configDir, 'log', 'kid.log'), 'utf8');
  await until(async () => (await log()).includes('over\n'), { what: 'the end' });
  for (const letter of letters) t.match(await log(), `subprocess: ${letter}\n`);
});

t.test('a service whose pipe cannot be removed has ended nevertheless', async t => {
  const app = await startHost({ config: { kid: block('Kid', 'sleep 600') } });
  t.teardown(() => app.stop());
  await start(app, 'Kid');
  const pid = await pidOf(app, 'Kid');
  const directory = path.join(app.configDir, 'supervisor');
  const { processes } = JSON.parse(await readFile(path.join(directory, 'state.json'), 'utf8'));
  // The removal is refused, as on a disk that has become read-only.
  await mkdir(path.join(directory, `${processes.Kid.run_id}.stdin`));
  process.kill(pid, 'SIGKILL');
  await until(async () => (await status(app, 'Kid')).status === 'stopped', { what: 'the end to be known' });
  t.match(await start(app, 'Kid'), { status: 200, body: { status: 'Service started successfully' } });
});

t.test('the pipe of a run that begins while those of others are removed stays', async t => {
  const directory = testDir(t, { 'over.stdin': '', 'begun.stdin': '' });
  const runIds = new Set<string>();
  const removed = removeOtherPipes(directory, () => runIds);
  runIds.add('begun');
  await removed;
  t.same(await readdir(directory), ['begun.stdin']);
});
