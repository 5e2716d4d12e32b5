// The sources of environment variables, and variables with an unfit value.
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const logCount = async (dotEnv: string, env: NodeJS.ProcessEnv): Promise<unknown> => {
  const configDir = testDir(t, {
    '.env': dotEnv,
    'stackwarden.json': JSON.stringify({ dumb: { log_count: 3, gateway: { enabled: false } } }),
  });
  const app = await startHost({ plugins: ['config'], configDir, env });
  const { dumb } = (await app.get('/config')).body;
  await app.stop();
  return dumb.log_count;
};

t.test('a variable of the process overrides one of .env, and both override the file', async t => {
  t.equal(await logCount('', {}), 3);
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', {}), 4);
  t.equal(await logCount('\uFEFFDUMB_LOG_COUNT=4\r\n', {}), 4, 'as an editor on Windows writes it');
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', { DUMB_LOG_COUNT: '5' }), 5);
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', { DUMB_LOG_COUNT: ' ' }), 4, 'a blank one is none');
});

t.test('an unfit variable leaves the value of the file', async t => {
  t.equal(await logCount('', { DUMB_LOG_COUNT: 'many' }), 3);
  t.equal(await logCount('', { DUMB_LOG_COUNT: '-5' }), 3);
});

t.test('an unknown log level leaves the level of the file', async t => {
  const configDir = testDir(t, {
    'stackwarden.json': JSON.stringify({
      dumb: { log_level: 'WARNING', api_service: { log_level: 'error' }, gateway: { enabled: false } },
    }),
  });
  const env = { DUMB_LOG_LEVEL: 'LOUD', DUMB_API_SERVICE_LOG_LEVEL: 'LOUDEST' };
  const app = await startHost({ plugins: ['config'], configDir, env });
  t.teardown(() => app.stop());
  t.match((await app.get('/config')).body.dumb, { log_level: 'WARNING', api_service: { log_level: 'error' } });
});

t.test('a variable with unfit JSON is logged and ignored', async t => {
  const block = { enabled: false, process_name: 'Idle', command: ['sleep', '1000'] };
  const own = { env: { A: '1' }, none: {}, items: [1] };
  const configDir = testDir(t, {
    'stackwarden.json': JSON.stringify({ idle: { ...block, ...own }, dumb: { gateway: { enabled: false } } }),
  });
  const texts = {
    IDLE_ENV: ['{"A":', '[]', '{"__proto__":{"B":"2"}}', '{"A":{"constructor":1}}'],
    IDLE_NONE: [`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, '5'],
    IDLE_ITEMS: [`${'['.repeat(60_000)}${']'.repeat(60_000)}`, 'one', '{}'],
  };
  for (const [variable, values] of Object.entries(texts))
    for (const text of values) {
      const app = await startHost({ plugins: ['config', 'process', 'logs'], configDir, env: { [variable]: text } });
      const what = `${variable} of ${text.slice(0, 25)}`;
      const { idle } = (await app.get('/config')).body;
      t.match(idle, own, what);
      t.equal((await app.post('/config', { updates: { idle } })).status, 200, `${what} can be saved with the rest`);
      const isTold = async () =>
        (await app.get('/logs?process_name=DUMB')).body.chunk.includes(`variable ${variable} is not`);
      await until(isTold);
      await app.stop();
    }
});
