// Where a text becomes a large one: YAML holds the event loop for 4 KiB at most, and no save makes a configuration that
// the next start could not read.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { parseConfigAside } from '../../core/config/load.ts';
import { yamlFormat } from '../../plugins/format-yaml/yaml-file.ts';
import { startHost } from '../support/host.ts';

const LOOP_BYTES = 4_096;
const MAX_CHARACTERS = 5 * 1024 * 1024;

/** More than work on the event loop takes, none of which lets the loop turn. */
const MICROTASKS = 1_000;

/** Whether the work waits for another turn of the event loop: what holds it is done before. */
async function letsOthersRun(work: () => unknown): Promise<boolean> {
  let isDone = false;
  const doing = (async () => {
    await work();
    isDone = true;
  })();
  for (let task = 0; task < MICROTASKS; task += 1) await null;
  const hasWaited = !isDone;
  await doing;
  return hasWaited;
}

/** YAML of so many bytes, an even number, whatever its characters. */
const yaml = (bytes: number): string => `a: 1  # ${'ä'.repeat((bytes - 8) / 2)}`;

const works = {
  'a file of a service': (text: string) => yamlFormat.parse(text),
  'an edit of it': (text: string) => yamlFormat.edit(text, { a: 2 }, 'merge'),
  'an update as text': (text: string) => yamlFormat.readUpdate?.(text),
  'the configuration': (text: string) => parseConfigAside({ file: 'a.yaml', format: 'yaml', text }),
};
for (const [what, work] of Object.entries(works)) {
  t.test(`YAML: ${what}`, async t => {
    for (const bytes of [LOOP_BYTES, LOOP_BYTES + 2]) {
      const text = yaml(bytes);
      t.equal(Buffer.byteLength(text), bytes);
      t.equal(await letsOthersRun(() => work(text)), bytes > LOOP_BYTES, `${bytes} bytes`);
    }
  });
}

t.test('a save that would make the configuration too large', async t => {
  const app = await startHost({ config: {}, plugins: ['config', 'process'] });
  t.teardown(() => app.stop());
  const save = (length: number) =>
    app.post('/config', {
      updates: { kid: { process_name: 'Kid', command: ['true'], env: { LONG: 'x'.repeat(length) } } },
    });
  const before = await readFile(app.host.configFile, 'utf8');
  t.match(await save(MAX_CHARACTERS), { status: 413, body: { detail: String } });
  t.equal(await readFile(app.host.configFile, 'utf8'), before, 'nothing was written');
  t.equal((await save(1_000)).status, 200, 'the next save is made');
  t.match((await app.get('/config')).body.kid, { env: { LONG: 'x'.repeat(1_000) } });
});
