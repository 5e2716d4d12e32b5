// Sessions of diagnoses: who may continue one, how long it lasts, and how many there are.
import t from 'tap';
import { Sessions } from '../../../plugins/ai/conversation/sessions.ts';
import type { PromptTurn } from '../../../plugins/ai/prompt/messages.ts';

const HOUR_MS = 3_600_000;
const quiet = new AbortController().signal;

function opened() {
  let nowMs = 0;
  const sessions = new Sessions(() => nowMs);
  const create = (owner: string | null = null, turn: PromptTurn = { question: 'first?', answer: 'one' }) =>
    sessions.create({ scope: 'service', bundle: { a: 1 } }, owner, turn);
  const turnsOf = async (id: string, owner: string | null = null) => {
    let seen: readonly PromptTurn[] = [];
    await sessions.continue(
      id,
      owner,
      async (_evidence, turns) => {
        seen = turns;
        return { turn: { question: 'more?', answer: `answer ${turns.length}` } };
      },
      quiet,
    );
    return seen;
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { sessions, create, turnsOf, pass };
}

t.test('a session keeps its last eight turns', async t => {
  const { create, turnsOf } = opened();
  const id = create();
  t.match(id, /^[0-9a-f]{32}$/);
  for (let turn = 1; turn < 10; turn += 1) await turnsOf(id);
  const turns = await turnsOf(` ${id} `);
  t.equal(turns.length, 8);
  t.notMatch(turns[0], { question: 'first?' });
});

t.test('a session lasts for an hour after its last use, and belongs to one user', async t => {
  const { create, turnsOf, pass } = opened();
  const id = create('ada');
  await t.rejects(turnsOf(id, 'bob'), { status: 404, message: /run a new one/ });
  await t.rejects(turnsOf(id), { status: 404, message: /run a new one/ });
  pass(HOUR_MS - 1);
  await turnsOf(id, 'ada');
  pass(HOUR_MS - 1);
  await turnsOf(id, 'ada');
  pass(HOUR_MS + 1);
  await t.rejects(turnsOf(id, 'ada'), { status: 404, message: /run a new one/ });
});

t.test('the least recently used of fifty sessions is dropped for a new one', async t => {
  const { create, turnsOf, pass } = opened();
  const ids = Array.from({ length: 50 }, () => {
    pass(1);
    return create();
  });
  pass(1);
  await turnsOf(ids[0] ?? '');
  pass(1);
  const next = create();
  await t.rejects(turnsOf(ids[1] ?? ''), { status: 404, message: /run a new one/ });
  for (const id of [ids[0], ids[2], ids[49], next]) await t.resolves(turnsOf(id ?? ''));
});

t.test('a failed question changes nothing, and at most two questions wait', async t => {
  const { sessions, create, turnsOf } = opened();
  const id = create();
  await t.rejects(
    sessions.continue(id, null, () => Promise.reject(new Error('no answer')), quiet),
    { message: 'no answer' },
  );
  let finish: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    finish = resolve;
  });
  const order: number[] = [];
  const ask = (number: number) =>
    sessions.continue(
      id,
      null,
      async () => {
        await held;
        order.push(number);
        return { turn: { question: `${number}`, answer: 'x' } };
      },
      quiet,
    );
  const waiting = [ask(1), ask(2), ask(3)];
  t.throws(() => ask(4), { status: 409, message: /ask again/ });
  finish();
  await Promise.all(waiting);
  t.same(order, [1, 2, 3], 'one after the other');
  t.same(
    (await turnsOf(id)).map(({ question }) => question),
    ['first?', '1', '2', '3'],
  );
});

t.test('long answers are cut in a session', async t => {
  const { create, turnsOf } = opened();
  const id = create(null, { question: 'long?', answer: 'x'.repeat(3 * 1024 * 1024) });
  const [first] = await turnsOf(id);
  t.ok((first?.answer.length ?? 0) < 2 * 1024 * 1024);
});
