// The access lines of a proxy go unchanged to a file of their own; all other lines stay in the log of the service.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const JSON_LINE =
  '{"ClientHost":"203.0.113.9","RequestMethod":"GET","RequestPath":"/web?token=abcdef","DownstreamStatus":200}';
const COMMON_LINE = '203.0.113.9 - - [02/Jan/2026:03:04:05 +0000] "GET /web HTTP/1.1" 200 12';

t.test('access_log_file takes the access lines', async t => {
  const logDir = testDir(t, {});
  const script = `echo starting; echo '${JSON_LINE}'; echo '${COMMON_LINE}'; echo '{"level":"info"}'; exec sleep 1000`;
  const app = await startHost({
    config: {
      dumb: { log_dir: logDir },
      proxy: kid('Proxy', [], {
        command: ['sh', '-c', script],
        log_file: path.join(logDir, 'proxy.log'),
        access_log_file: path.join(logDir, 'access.log'),
      }),
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Proxy')).status, 200);
  const own = await until(async () => {
    const text = await readFile(path.join(logDir, 'proxy.log'), 'utf8');
    return text.includes('"level"') ? text : null;
  });
  t.same(
    own
      .trim()
      .split('\n')
      .map(line => line.split(' subprocess: ').at(-1)),
    ['starting', '{"level":"info"}'],
  );
  const access = await until(async () => {
    const lines = (await readFile(path.join(logDir, 'access.log'), 'utf8')).trim().split('\n');
    return lines.length >= 2 && lines;
  });
  t.same(access, [JSON_LINE.replace('abcdef', '[REDACTED]'), COMMON_LINE], 'unprefixed, without secrets');
});

t.test('one that is not written, because of its place, is told in a save and once in the log', async t => {
  const elsewhere = testDir(t, {});
  const outside = path.join(elsewhere, 'access.log');
  const proxy = kid('Proxy', ['sleep'], { enabled: true, access_log_file: outside });
  const others = {
    dated: kid('Dated', ['sleep'], { enabled: true, access_log_file: 'access-<date>.log' }),
    idle: kid('Idle', ['sleep'], { access_log_file: path.join(elsewhere, 'idle.log') }),
    inside: kid('Inside', ['sleep'], { enabled: true, access_log_file: 'inside.log' }),
  };
  const app = await startHost({ config: { proxy, ...others } });
  t.teardown(() => app.stop());
  const logDir = path.join(app.configDir, 'log');
  const left = 'so the access lines stay in the log of the service;';
  const ofProxy = `proxy.access_log_file: ${outside} lies outside ${logDir}, ${left} move it there`;
  const ofDated = `dated.access_log_file: '${path.join(logDir, 'access-<date>.log')}' holds <date>, ${left} give a whole name`;
  const told = async () => (await ownLog(app)).filter(line => line.includes('access_log_file'));
  const lines = await until(async () => ((await told()).length >= 2 ? told() : null), { what: 'the warnings' });
  t.same(lines.map(line => line.split(' - WARNING - process: ').at(-1)).sort(), [ofDated, ofProxy].sort());

  const save = (access_log_file: string) =>
    app.post('/config', { process_name: 'Proxy', updates: { access_log_file }, persist: true });
  t.same((await save('proxy-access.log')).body.warnings ?? [], []);
  t.same((await save(outside)).body.warnings, [ofProxy]);
  t.equal((await told()).length, 2, 'each once');
});
