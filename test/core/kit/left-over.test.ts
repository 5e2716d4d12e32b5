// Processes that earlier work has left: all of them and no others are found and ended, without holding the event loop.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { endLeftOver, marks } from '../../../core/kit/left-over.ts';
import { lives } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

/** Starts a process that belongs to some work. A large environment takes longer to read. */
function begin(t: Test, work: string, more: Record<string, string> = {}): number {
  const child = spawn('sleep', ['600'], { env: { ...more, ...marks(work), LAST: 'yes' }, stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  return child.pid ?? 0;
}

t.test('only the processes of the given work are ended', async t => {
  const work = `täglich ${randomUUID()}`;
  const [mine, alike] = [begin(t, work), begin(t, `${work} too`)];
  t.equal(await endLeftOver(work), true);
  t.notOk(lives(mine));
  t.ok(lives(alike));
  t.equal(await endLeftOver(work), false);
});

/** What a process that itself belongs to the work finds of it. */
async function askAnother(work: string, before = '', ask = `endLeftOver(${JSON.stringify(work)})`): Promise<string> {
  const from = (name: string): string => JSON.stringify(import.meta.resolve(`../../../core/kit/${name}.ts`));
  const script = `
    import { openSync } from 'node:fs'
    for (const name of Object.keys(${JSON.stringify(marks(''))})) delete process.env[name]
    await import(${JSON.stringify(import.meta.resolve('../../runner/typescript.mjs'))})
    const { endLeftOver } = await import(${from('left-over')})
    const { endBuild } = await import(${from('build-environment')})
    const { lookAtDescriptors } = await import(${from('descriptors')})
    ${before}
    const found = await ${ask}
    process.stdout.write(String(found), () => process.kill(process.pid, 'SIGKILL'))`;
  const command = 'ulimit -n 200; exec "$@"';
  const args = ['-c', command, 'sh', process.execPath, '--input-type=module', '-e', script];
  const child = spawn('sh', args, { env: { ...process.env, ...marks(work) } });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', part => {
      said += part;
    });
  await once(child, 'close');
  return said;
}

t.test('a host that belongs to some work does not end itself', async t => {
  t.equal(await askAnother(randomUUID()), 'false');
});

t.test('a search through many environments yields to the event loop', async t => {
  const large = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`LARGE_${n}`, 'x'.repeat(120_000)]));
  for (let count = 0; count < 24; count += 1) begin(t, 'another', large);
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  t.equal(await endLeftOver(randomUUID()), false);
  clearImmediate(next);
  t.ok(turns > 1, 'what else there is to do is done between');
});

const TAKE_ALL = `lookAtDescriptors(); try { for (;;) openSync('/dev/null', 'r') } catch {}`;

t.test('processes are found when no descriptor is left', async t => {
  const work = randomUUID();
  const pid = begin(t, work);
  t.equal(await askAnother(work, TAKE_ALL), 'true');
  t.notOk(lives(pid));

  const directory = `/builds/${randomUUID()}`;
  const build = begin(t, randomUUID(), { STACKWARDEN_BUILD: directory });
  t.equal(await askAnother(randomUUID(), TAKE_ALL, `endBuild('${directory}')`), 'undefined');
  await until(() => !lives(build), { what: 'the end of the build' });
});
