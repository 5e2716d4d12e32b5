// Many small values in one request: the text of the configuration is parsed once for all of them, in both formats. What
// grows with the square would take many seconds of the processor for each of them.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

const COUNT = 6_000;
/** Of the processor, for all that is asked of one format. One step with the square makes it 30 seconds. */
const LIMIT_MICROSECONDS = 8_000_000;
const names = (value: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`name_${index}`, value(index)]));

for (const format of ['json', 'yaml'] as const) {
  t.test(`ninety kilobytes of names in ${format}`, { timeout: 120_000 }, async t => {
    const configDir = testDir(t, {
      [`stackwarden.${format}`]: format === 'json' ? '// kept\n{\n  "dumb": {}\n}\n' : '# kept\ndumb:\n  a: 1\n',
    });
    const app = await startHost({ configDir, plugins: ['config'] });
    t.teardown(() => app.stop());
    /** On a machine with other work one try may be too late for its deadline. */
    const save = (value: (index: number) => unknown, persist: boolean) =>
      until(async () => {
        const { status, body } = await app.post('/config', { updates: { dumb: names(value) }, persist });
        if (status !== 200) throw new Error(`${status} ${body.detail}`);
        return true;
      });
    const saved = async () => {
      const text = await readFile(path.join(configDir, `stackwarden.${format}`), 'utf8');
      t.ok(text.includes('kept'), 'comments stay');
      return (parse(text.replace(/^\/\/.*/, ''), { uniqueKeys: false }) as { dumb: Record<string, unknown> }).dumb;
    };

    const before = process.cpuUsage();
    t.ok(await save(index => index, true), 'added');
    t.match(await saved(), { name_0: 0, [`name_${COUNT - 1}`]: COUNT - 1 });
    t.ok(await save(index => `text ${index}`, true), 'replaced');
    t.match(await saved(), { name_0: 'text 0', [`name_${COUNT - 1}`]: `text ${COUNT - 1}` });
    t.ok(await save(index => index + 1, false), 'in memory only');
    t.ok(await save(index => index + 2, false), 'and again');
    t.equal((await app.get('/config')).body.dumb.name_0, 2);
    t.ok(await save(() => null, true), 'removed');
    t.notOk(Object.keys(await saved()).some(name => name.startsWith('name_')));
    t.ok(process.cpuUsage(before).user < LIMIT_MICROSECONDS);
  });
}

t.test('many processes in one request', { timeout: 120_000 }, async t => {
  const app = await startHost({ plugins: ['config', 'process'], config: {} });
  t.teardown(() => app.stop());
  const updates = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, index) => [
      `sleeper_${index}`,
      { process_name: `Sleeper ${index}`, command: ['sleep', '600'], enabled: false },
    ]),
  );
  t.equal((await app.post('/config', { updates, persist: true })).status, 200);
  t.equal((await app.get('/process/processes')).body.processes.length >= 1_500, true);
});
