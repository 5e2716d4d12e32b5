// Many values of the configuration that do not fit: answers name only the first ones.
import t from 'tap';
import { startHost } from '../support/host.ts';

t.test('thousands of items in the lists of one service', { timeout: 120_000 }, async t => {
  const list = Array.from({ length: 8_000 }, () => 5);
  const config = { kid: { process_name: 'Kid', command: ['sleep', '600'], enabled: false, watch: list } };
  const app = await startHost({ plugins: ['config', 'process', 'watch-files'], config });
  t.teardown(() => app.stop());
  const { config_problem: problem } = (await app.get('/process?process_name=Kid')).body;
  t.match(problem, /^kid\.watch\.0: .*; and 7990 more, which the log names$/);
  t.equal(problem.match(/kid\.watch\.\d+: /g).length, 10);
});
