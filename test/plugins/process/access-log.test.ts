// The access lines of a proxy go unchanged to a file of their own; all other lines stay in the log of the service.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start } from '../../support/kids.ts';
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
