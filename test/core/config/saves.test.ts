// A save costs only what it changes: schemas check only the changed block, defaults are computed once, and the capture
// of output is told only of services with another log.
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { kid, start } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const NAMES = ['first', 'second', 'third'];

/** Counts, in global variables, the calls of its defaults and the blocks that its schema checks. */
const COUNTING = {
  more: `config: z => {
    const counts = globalThis.fixtureCounts = { defaults: 0, looks: [] }
    globalThis.fixtureBlock = z.looseObject({}).refine(block => counts.looks.push(block.process_name) > 0)
    return z.looseObject({})
  },`,
  setup: `host.contribute('config.block', host.name, {
    schema: globalThis.fixtureBlock,
    defaults: blocks => {
      globalThis.fixtureCounts.defaults += 1
      return blocks.map(() => ({ added: true }))
    },
  })`,
};

t.test('a save checks only the changed block, and tells the capture only of changed logs', async t => {
  const app = await startWithPlugins(
    t,
    { counting: COUNTING },
    {
      shipped: ['config', 'process'],
      config: Object.fromEntries(NAMES.map(name => [name, kid(name, ['calm'], { suppress_logging: false })])),
    },
  );
  await Promise.all(NAMES.map(async name => t.equal((await start(app, name)).status, 200)));
  const { fixtureCounts: counts } = globalThis as unknown as { fixtureCounts: { defaults: number; looks: string[] } };
  const retargeted: string[] = [];
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function post(this: Worker, message, ...rest) {
    if (message.call?.kind === 'retarget') retargeted.push(message.call.target.processName);
    return postMessage.call(this, message, ...(rest as []));
  };
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage;
  });
  const save = async (block: object) => {
    Object.assign(counts, { defaults: 0, looks: [] });
    t.equal((await app.post('/config', { updates: { second: block }, persist: true })).status, 200);
  };

  await save({ stop_grace_seconds: 2 });
  t.strictSame(counts, { defaults: 1, looks: ['second'] }, 'is computed once, with one block to look at');
  t.strictSame(retargeted, [], 'leaves the output of services whose log stays alone');

  await save({ log_level: 'DEBUG' });
  t.strictSame(retargeted, ['second'], 'tells of the one log that is another');
  t.equal((await app.get('/config')).body.second.added, true);
});
