// A running process whose log or owner changes in the configuration: each line is in one of its logs, once.
import { appendFile, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { testDir } from '../../support/directory.ts';

const ROUNDS = 200;
const asRoot = process.getuid?.() === 0;

function begin(t: Test, directory: string) {
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1_000_000_000, keep: 1 }),
    ownLevel: () => 'INFO',
    deliver: async () => undefined,
    log: { warn: () => undefined, error: () => undefined },
    onFault: () => undefined,
  });
  t.teardown(() => capture.close());
  const target = (name: string, uid: number) => ({
    processName: 'Kid',
    logFile: path.join(directory, name),
    accessLogFile: null,
    logLevel: 'INFO' as const,
    suppressed: false,
    owner: asRoot ? { uid, gid: uid } : null,
  });
  return { capture, target, spool: path.join(directory, 'kid.spool') };
}

t.test('a change while the process writes loses and doubles no line', async t => {
  const directory = testDir(t, {});
  const { capture, target, spool } = begin(t, directory);
  const session = await capture.open(target('0.log', 65_534), spool);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await appendFile(spool, `number ${round}.\n`);
    const changing = session.retarget(target(`${round % 2}.log`, 65_534));
    if (round % 3 === 0) await nextTurn();
    await Promise.all([changing, session.pump()]);
  }
  await session.finish();
  const texts = await Promise.all(['0.log', '1.log'].map(name => readFile(path.join(directory, name), 'utf8')));
  const numbers = texts.flatMap(text => [...text.matchAll(/number (\d+)\./g)].map(([, number]) => Number(number)));
  t.same(
    numbers.sort((a, b) => a - b),
    Array.from({ length: ROUNDS }, (_, index) => index + 1),
  );
});

t.test('a new owner owns the log from then on', { skip: asRoot ? false : 'needs root' }, async t => {
  const directory = testDir(t, {});
  const { capture, target, spool } = begin(t, directory);
  const owner = async (name: string) => (await stat(path.join(directory, name))).uid;
  const session = await capture.open(target('a.log', 65_534), spool);
  const say = async (text: string) => {
    await appendFile(spool, `${text}\n`);
    await session.settled();
  };
  await say('one');
  t.equal(await owner('a.log'), 65_534);
  await session.retarget(target('b.log', 65_533));
  await say('two');
  t.equal(await owner('b.log'), 65_533, 'of a new log');
  await session.retarget(target('b.log', 65_532));
  session.rotate();
  await say('three');
  t.equal(await owner('b.log'), 65_532, 'of the same log when it is rotated');
  t.match(await readFile(path.join(directory, 'b.log'), 'utf8'), /three/);
  await session.finish();
});
