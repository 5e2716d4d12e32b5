// Many values of the configuration that do not fit: they are found in work that grows with their number, not with its
// square, and answers name only the first ones.
import t from 'tap';
import { startHost } from '../support/host.ts';

const SERVICES = 2_000;
/** Of the processor, for the start and three changes. One step with the square makes it more than 20 seconds. */
const LIMIT_MICROSECONDS = 10_000_000;

t.test('one in each of two thousand services', { timeout: 120_000 }, async t => {
  const config = Object.fromEntries(
    Array.from({ length: SERVICES }, (_, index) => [
      `sleeper_${index}`,
      { process_name: `Sleeper ${index}`, command: ['sleep', '600'], enabled: false, wait_timeout_seconds: 'soon' },
    ]),
  );
  const before = process.cpuUsage();
  const app = await startHost({ plugins: ['config', 'process', 'health'], config });
  t.teardown(() => app.stop());
  for (const seconds of [10, 20, 30]) {
    const updates = { sleeper_1: { wait_timeout_seconds: seconds } };
    t.equal((await app.post('/config', { updates, persist: false })).status, 200);
  }
  const { processes } = (await app.get('/process/processes')).body;
  const unfit = processes.filter((entry: { config_problem: string | null }) => entry.config_problem !== null);
  t.equal(unfit.length, SERVICES, 'memory does not mend the file');
  t.ok(process.cpuUsage(before).user < LIMIT_MICROSECONDS);
  t.match((await app.get('/health')).body.details, /do not fit \((?:[^,]+, ){2}[^,]+ and 1997 more\); see the log/);
});

t.test('thousands of items in the lists of one service', { timeout: 120_000 }, async t => {
  const list = Array.from({ length: 8_000 }, () => 5);
  const config = { kid: { process_name: 'Kid', command: ['sleep', '600'], enabled: false, watch: list } };
  const app = await startHost({ plugins: ['config', 'process', 'watch-files'], config });
  t.teardown(() => app.stop());
  const { config_problem: problem } = (await app.get('/process?process_name=Kid')).body;
  t.match(problem, /^kid\.watch\.0: .*; and 7990 more, which the log names$/);
  t.equal(problem.match(/kid\.watch\.\d+: /g).length, 10);
});
