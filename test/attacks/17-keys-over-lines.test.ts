// Line 17: a private key that a service prints over several lines is masked from its first line to its last, and
// nothing beside it.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid, start } from '../support/kids.ts';
import { until } from '../support/until.ts';

const body = (letter: string) => letter.repeat(64);
const FIRST = ['before', '-----BEGIN RSA PRIVATE KEY-----', 'Proc-Type: 4,ENCRYPTED', '', body('a'), body('b')];
const SECOND = [
  body('c'),
  'dd==',
  '-----END RSA PRIVATE KEY----- behind',
  'between',
  '-----BEGIN PRIVATE KEY-----',
  `12:00:00 INFO ${body('e')}`,
  'its end never comes',
  body('f'),
];

t.test('in two batches of output', async t => {
  const dir = testDir(t, { 'first.txt': `${FIRST.join('\n')}\n`, 'second.txt': `${SECOND.join('\n')}\n` });
  await chmod(dir, 0o755);
  const script = `cat first.txt; until [ -e go ]; do sleep 0.05; done; cat second.txt; exec sleep 600`;
  const log = path.join(dir, 'log', 'app.log');
  const block = { ...kid('App', []), command: ['sh', '-c', script], config_dir: dir, log_file: log };
  const app = await startHost({
    plugins: ['config', 'process', 'logs'],
    config: { dumb: { log_dir: path.join(dir, 'log') }, app: block },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'App')).status, 200);
  await until(async () => (await readFile(log, 'utf8')).includes('[REDACTED]'), { what: 'the first batch' });
  await writeFile(path.join(dir, 'go'), '');
  const text = await until(async () => {
    const now = await readFile(log, 'utf8');
    return now.includes('ffff') ? now : undefined;
  });
  const shown = text.split('\n').map(line => line.replace(/^.* subprocess: /, ''));
  t.same(shown, ['before', '[REDACTED]', ' behind', 'between', '[REDACTED]', 'its end never comes', body('f'), '']);
});
