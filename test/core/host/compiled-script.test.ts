// Scripts of a build, and the code cache that V8 has for them.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { CORE_DIR } from '../../../core/build/places.ts';
import { CompiledScript } from '../../../core/host/compiled-script.ts';
import { sharedBuild } from '../../support/build.ts';
import { testDir } from '../../support/directory.ts';
import { writeConfig } from '../../support/stackwarden.ts';

const run = promisify(execFile);
const TEXT = '({ word: () => "first" })';

/** The script with its cache under another name, because V8 remembers what it has compiled in this process. */
async function copied(t: Test, { text = TEXT, harm = (whole: Buffer) => whole }): Promise<CompiledScript> {
  const dir = testDir(t, { 'first.cjs': TEXT, 'second.cjs': text });
  const url = (name: string) => pathToFileURL(path.join(dir, name));
  const first = new CompiledScript(url('first.cjs'));
  t.equal(word(first), 'first');
  await first.keep();
  const whole = await readFile(url('first.cjs.compiled'));
  await writeFile(url('second.cjs.compiled'), harm(whole));
  return new CompiledScript(url('second.cjs'));
}

function word(script: CompiledScript): string {
  return (script.run() as { word(): string }).word();
}

t.test('a code cache is used', async t => {
  const script = await copied(t, {});
  t.ok(script.isKept);
  t.equal(word(script), 'first');
});

t.test('a code cache is not used for another text of the same length', async t => {
  const script = await copied(t, { text: TEXT.replace('first', 'other') });
  t.notOk(script.isKept);
  t.equal(word(script), 'other');
});

t.test('a damaged code cache is not used', async t => {
  const harms: ((whole: Buffer) => Buffer)[] = [
    whole => Buffer.concat([whole.subarray(0, 40), Buffer.alloc(8, 7), whole.subarray(48)]),
    whole => whole.subarray(0, -1),
    whole => whole.subarray(0, 5),
    () => Buffer.alloc(0),
  ];
  for (const harm of harms) {
    const script = await copied(t, { harm });
    t.notOk(script.isKept);
    t.equal(word(script), 'first');
  }
});

t.test('a start from a build compiles neither the core nor the plugins', async t => {
  const configDir = testDir(t);
  await writeConfig(configDir);
  const from = async (name: string) => JSON.stringify(path.join(await sharedBuild(t), CORE_DIR, name));
  const program = `
    import { script } from ${await from('core-script.js')}
    import { readJoinedPlugins } from ${await from('joined-plugins.js')}
    import { start } from ${await from('start.js')}
    const onCreated = () => { console.log(script.isKept, readJoinedPlugins().isKept); process.exit() }
    await start({ configDir: ${JSON.stringify(configDir)}, example: false, pace: 1, onCreated })`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.equal(stdout, 'true true\n');
});
