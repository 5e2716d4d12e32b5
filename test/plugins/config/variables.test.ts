// Where variables of the environment come from, and one whose value does not fit.
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

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

t.test('a variable of the process stands above one of .env, and both above the file', async t => {
  t.equal(await logCount('', {}), 3);
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', {}), 4);
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', { DUMB_LOG_COUNT: '5' }), 5);
  t.equal(await logCount('DUMB_LOG_COUNT=4\n', { DUMB_LOG_COUNT: ' ' }), 4, 'a blank one is none');
});

t.test('one that does not fit leaves what the file has', async t => {
  t.equal(await logCount('', { DUMB_LOG_COUNT: 'many' }), 3);
  t.equal(await logCount('', { DUMB_LOG_COUNT: '-5' }), 3);
});

t.test('a word that is no log level leaves the level of the file', async t => {
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
