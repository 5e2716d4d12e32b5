// A walk gives directories in their order, in whatever order threads answer, and does not keep what it has given.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { ShardPool } from '../../../plugins/symlinks/tasks/shard-pool.ts';
import type { VisitAnswer, VisitRequest } from '../../../plugins/symlinks/walk/visit.ts';
import { walk } from '../../../plugins/symlinks/walk/walk.ts';
import { heldBytes } from '../../support/held-memory.ts';

const FOLDERS = 6_000;
const LINES_BYTES = 26_000;
/** All given entries together would take 156 MB. */
const MAX_HELD_BYTES = 60_000_000;

t.test('a long walk gives directories in order, in little memory', async t => {
  const names = Array.from({ length: FOLDERS }, (_, index) => `s${index}`).sort();
  const answerOf = (real: string): VisitAnswer => {
    const lineBytes = real.endsWith('/one') ? LINES_BYTES : 0;
    const below = real === '/root' ? names : [];
    return {
      lineBytes,
      counts: {},
      errors: [],
      links: 0,
      met: [],
      below: below.length === 0 && lineBytes === 0 ? ['one'] : below,
    };
  };
  let asked = 0;
  const pool = {
    threads: 2,
    ask: async (make: (unreachable: string[]) => unknown) => {
      const { directories } = make([]) as VisitRequest;
      asked += 1;
      await delay(asked % 3);
      const answers = directories.map(({ real }) => answerOf(real));
      return { answers, lines: new Uint8Array(answers.reduce((sum, { lineBytes }) => sum + lineBytes, 0)) };
    },
  } as unknown as ShardPool;
  const taken: string[] = [];
  let held = 0;
  const before = heldBytes();
  await walk(pool, [{ real: '/root', shown: '/root' }], (_answer, _lines, { real }) => {
    taken.push(real);
    if (taken.length !== 2 * FOLDERS) return;
    held = heldBytes() - before;
  });
  t.equal(taken.join('\n'), ['/root', ...names.flatMap(name => [`/root/${name}`, `/root/${name}/one`])].join('\n'));
  t.ok(held < MAX_HELD_BYTES, `${Math.round(held / 1e6)} MB are held`);
});
