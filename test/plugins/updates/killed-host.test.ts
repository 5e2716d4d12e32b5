// A host that is killed or stopped at any moment of an update: afterwards the old or the new release is in place and
// runs, and excluded files are unchanged. STACKWARDEN_TEST_ROUNDS sets the number of rounds.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { rounds } from '../../support/rounds.ts';
import { FIRST, makeShelf } from '../../support/shelf.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';
import { openUpdatingHost } from '../../support/updating-host.ts';

const PLUGINS = [
  'config',
  'process',
  'auto-restart',
  'health-probe',
  'versions',
  'updates',
  'installs',
  'install-shelf',
];
const NAME = 'Gadget';
const MINE = 'what the user has written';

/** A service with a release, and hosts that update it one after the other. */
async function stack(t: Test, more: Record<string, unknown> = {}, program?: 'stubborn') {
  const shelf = await makeShelf(t);
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME, more, program);
  const folder = String(block.config_dir);
  await writeFile(path.join(folder, 'data', 'mine'), MINE);
  const port = await writeConfig(shelf.configDir, {
    gadget: { instances: { Default: block } },
    dumb: {
      startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      plugins: { dirs: [shelf.sourceDir] },
    },
  });
  const open = () => openUpdatingHost(shelf.configDir, { name: NAME, port, plugins: PLUGINS });
  return { shelf, folder, open };
}

t.test('a kill before the new release is ready is repaired', async t => {
  const { shelf, open } = await stack(t);
  await shelf.publish('v1.1.0');
  const first = await open();
  const answer = first.install().catch(() => undefined);
  await until(async () => (await shelf.started(NAME)) === 'v1.1.0', { intervalMs: 5 });
  first.host.child.kill('SIGKILL');
  await Promise.all([answer, first.host.exited]);
  const second = await open();
  t.match(await second.status(), { status: 'updated', current_version: 'v1.1.0' });
  t.equal(await shelf.present(NAME), 'v1.1.0');
  second.host.child.kill('SIGTERM');
  await second.host.exited;
});

t.test('a kill before the swap keeps the old release', async t => {
  const { shelf, open } = await stack(t, { stop_grace_seconds: 5 }, 'stubborn');
  await shelf.publish('v1.1.0');
  const first = await open();
  const answer = first.install().catch(() => undefined);
  await until(async () => (await first.process()).status === 'stopping', { intervalMs: 5 });
  first.host.child.kill('SIGKILL');
  await Promise.all([answer, first.host.exited]);
  const second = await open();
  t.match(await second.status(), { status: 'error', message: /ended during the update; .* is in place/ });
  t.equal(await shelf.present(NAME), FIRST);
  second.host.child.kill('SIGTERM');
  await second.host.exited;
});

t.test('an update survives the end of its host at any moment', { timeout: 3_600_000 }, async t => {
  const { shelf, folder, open } = await stack(t);
  let seed = Number(process.env.STACKWARDEN_TEST_SEED ?? 1);
  t.comment(`seed ${seed}`);
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const ends = new Map<string, number>();
  const whole = new Map<string, number>();
  let present: string = FIRST;
  let app = await open();
  const repeats = rounds(1);
  for (let round = 1; round <= repeats; round += 1) {
    const next = `v1.${round}.0`;
    const program = random() < 0.25 ? 'exits' : 'good';
    await shelf.publish(next, program);
    const began = performance.now();
    const answer = app.install().catch(() => undefined);
    // The first round measures how long an update takes.
    const longestMs = whole.get(program);
    if (longestMs === undefined && repeats > 1) {
      await answer;
      whole.set(program, performance.now() - began);
    } else {
      // The steps before the new release runs take a small part of that time.
      await delay(random() ** 3 * (longestMs ?? 1_000) * 1.1);
      app.host.child.kill(random() < 0.8 ? 'SIGKILL' : 'SIGTERM');
      await Promise.all([answer, app.host.exited]);
      app = await open();
    }
    const version = await shelf.present(NAME);
    const told = (await app.status())?.status ?? 'nothing';
    const what = `round ${round}: ${next}, which ${program === 'good' ? 'runs' : 'does not run'}, is ${told}`;
    t.ok(version === present || (version === next && program === 'good'), `${what}: ${version} is in place`);
    t.equal(await shelf.started(NAME), version, `${what}: what is in place runs`);
    t.ok((await readdir(folder)).includes(`only-in-${version}`), `${what}: and is whole`);
    t.equal(
      (await readdir(folder)).filter(name => name.startsWith('only-in-')).length,
      1,
      `${what}: nothing of the other`,
    );
    t.equal(await readFile(path.join(folder, 'data', 'mine'), 'utf8'), MINE, `${what}: what is excluded is as it was`);
    ends.set(told, (ends.get(told) ?? 0) + 1);
    present = version;
  }
  t.comment([...ends].map(([told, times]) => `${told}: ${times}`).join(', '));
  app.host.child.kill('SIGTERM');
  await app.host.exited;
});
