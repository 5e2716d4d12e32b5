// A move while another plugin holds the server, and a move whose client disconnects.
import t from 'tap';
import { ACTIVATION, CHOSEN, isActive, storage } from '../../support/metrics-postgres.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

const HOLDER = `
  let release;
  const route = (path, handle) => host.route({ method: 'POST', path, summary: path, access: 'public', handle });
  route('/hold', () => {
    const work = () => new Promise(resolve => { release = resolve; });
    void host.use('process.supervisor').hold('PostgreSQL', 'its data is moved', work);
    return {};
  });
  route('/release', () => { release(); return {}; });`;

// Made once for the file, because a test has one directory.
const block = await postgresBlock(t);

t.test('a move is refused while the server is held, and goes on without its client', async t => {
  const app = await startWithPlugins(
    t,
    { holder: { setup: HOLDER, more: "needs: ['process']," } },
    {
      shipped: ['metrics-postgres', 'config', 'services', 'setup', 'health-probe'],
      config: { postgres: block, dumb: { metrics: CHOSEN } },
    },
  );
  const status = async () => (await app.get('/process/processes')).body.processes[0].status;
  await app.post('/hold');
  await until(async () => (await app.post('/process/start-service', { process_name: 'PostgreSQL' })).status === 409);
  const { status: code, body } = await app.post(ACTIVATION);
  t.equal(code, 409);
  t.equal(body.detail, 'PostgreSQL is in use: its data is moved; activate it when that is done.');
  t.equal((await storage(app)).active_provider, 'sqlite');
  await app.post('/release');

  const leaving = new AbortController();
  const answer = fetch(app.base + ACTIVATION, { method: 'POST', signal: leaving.signal });
  await until(async () => (await status()) !== 'stopped', { intervalMs: 5, what: 'the server to be started' });
  leaving.abort();
  await t.rejects(answer);
  await isActive(app);
  // The first move ends a little after its store is used.
  const again = await until(
    async () => {
      const answered = await app.post(ACTIVATION);
      return answered.status === 200 ? answered.body : undefined;
    },
    { what: 'the end of the first activation' },
  );
  t.match(again, { status: 'active', postgres_reused: true });
});
