// Members that third parties add to the entry of a process: shown, described, cached, and left out when they do not
// fit.
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const BLOCK = { enabled: false, process_name: 'Kid', command: ['true'] };

async function startWith(t: Test, setup: string) {
  const configDir = testDir(t, {
    plugins: {
      recipes: {
        'index.js': `let zod
        export default { name: 'recipes', host: '^1', needs: ['process'], config: z => (zod = z).object({}), setup (host) { ${setup} } }`,
      },
    },
  });
  const app = await startHost({ configDir, config: { kid: BLOCK }, plugins: ['process', 'recipes', 'docs'] });
  t.teardown(() => app.stop());
  const entry = async () => {
    const { processes } = (await app.get('/process/processes')).body;
    return processes.find(({ process_name: name }: { process_name: string }) => name === 'Kid');
  };
  return { app, entry, detail: async () => (await app.get('/process?process_name=Kid')).body };
}

t.test('entry and detail hold what a plugin adds, and the API description knows it', async t => {
  const { app, entry, detail } = await startWith(
    t,
    `host.contribute('process.entry', 'recipes', {
       schema: zod.object({ update_status: zod.object({ status: zod.string() }), flavour: zod.string().describe('how it tastes') }),
       members: ({ processName }) => ({ update_status: { status: 'no_update' }, flavour: processName + ' sweet' }),
       revision: () => 1,
     })
     host.contribute('process.detail', 'recipes', {
       schema: zod.object({ recipe: zod.string() }),
       members: async ({ block }, { scope }) => ({ recipe: block.command[0] + ' ' + scope }),
     })`,
  );
  t.match(await entry(), {
    flavour: 'Kid sweet',
    update_status: { status: 'no_update' },
  });
  t.notOk('recipe' in (await entry()), 'what is known of the detail alone');
  t.match(await detail(), { flavour: 'Kid sweet', recipe: 'true undefined' });
  t.match((await app.get('/process?process_name=Kid&scope=all')).body, { recipe: 'true all' });
  const description = JSON.stringify((await app.get('/openapi.json')).body.paths['/process/processes']);
  t.match(description, 'how it tastes');
});

t.test('entries are kept until the plugin says that they changed', async t => {
  const { app, entry } = await startWith(
    t,
    `let asked = 0, revision = 1
     host.contribute('process.entry', 'recipes', { members: () => ({ asked: ++asked }), revision: () => revision })
     host.route({ method: 'POST', path: '/changed', summary: 'x', handle () { revision += 1; return {} } })`,
  );
  // During the start of the host states change, and with them all entries.
  const rested = () =>
    until(async () => {
      const { asked } = await entry();
      return (await entry()).asked === asked && asked;
    });
  const asked = await rested();
  await app.post('/changed');
  t.ok(Number(await rested()) > Number(asked));
});

t.test('faulty, unfit, foreign and late members are left out, and the rest is shown', async t => {
  const { entry, detail } = await startWith(
    t,
    `host.contribute('process.entry', 'thrower', { members () { throw new Error('no') } })
     host.contribute('process.entry', 'misfit', { schema: zod.object({ size: zod.number() }), members: () => ({ size: 'large' }) })
     host.contribute('process.entry', 'thief', { members: () => ({ status: 'running', stolen: true }) })
     host.contribute('process.entry', 'rubbish', { members: () => 'rubbish', revision () { throw new Error('no') } })
     host.contribute('process.entry', 'good', { members: () => ({ good: true }) })
     host.contribute('process.detail', 'hanger', { members: () => new Promise(() => {}) })
     host.contribute('process.detail', 'rejecter', { members: async () => { throw new Error('no') } })`,
  );
  const shown = await entry();
  t.match(shown, { good: true, status: 'stopped' });
  for (const name of ['size', 'stolen']) t.notOk(name in shown, name);
  t.match(await detail(), { good: true, status: 'stopped' });
});

t.test('members that are promises are left out at once', async t => {
  const { app, entry, detail } = await startWith(
    t,
    `host.contribute('process.entry', 'recipes', { members: async () => ({ flavour: 'sweet' }) })`,
  );
  t.notOk('flavour' in (await entry()));
  t.notOk('flavour' in (await detail()));
  t.match(
    app.host.plugins().find(({ name }) => name === 'recipes'),
    { state: 'ready', errors: { contribution: Number } },
  );
});
