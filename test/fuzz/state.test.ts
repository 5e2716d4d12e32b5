// Damaged files of the host's own state, the same at every run: it starts, trusts nothing that is wrong, and goes on.
import t from 'tap';
import { rounds } from '../support/rounds.ts';
import { fuzzState } from './state.ts';

const SEED = 20_261_122;
/** Above what is promised, 200 ms, because machines that run tests are slow. */
const STALL_LIMIT_MS = 500;

t.test('files of the host itself', { timeout: 240_000 }, async t => {
  t.same(await fuzzState(SEED, rounds(4), STALL_LIMIT_MS), []);
});
