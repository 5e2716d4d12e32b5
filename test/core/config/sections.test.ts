// Several plugins may define members of one object in the configuration, and each member has one owner.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('a JSON schema can be completed at run time', async t => {
  const app = await startWithPlugins(t, {
    chooser: {
      more: `config: z => { globalThis.fixtureChoice = z.looseObject({ choice: z.string().default('a') }); return z.looseObject({}) },`,
      setup: `let asked = 0
        host.contribute('config.schema', 'x', {
          path: ['dumb', 'chosen'],
          schema: globalThis.fixtureChoice,
          jsonSchema: made => ({
            ...made,
            properties: { choice: { ...made.properties.choice, enum: ['a', 'b' + ++asked] } },
          }),
        })`,
    },
  });
  const choice = async () => (await app.get('/config/schema')).body.properties.dumb.properties.chosen.properties.choice;
  t.match(await choice(), { type: 'string', default: 'a', enum: ['a', 'b1'] });
  t.match(await choice(), { enum: ['a', 'b2'] }, 'asked at each listing');
});

/** Contributes a member with a default to a shared object. */
const sharing = (member: string, value: string) => ({
  more: `config: z => {
    globalThis.fixtureSections ??= {}
    globalThis.fixtureSections['${member} ${value}'] = z.looseObject({ ${member}: z.string().default('${value}') })
    return z.looseObject({})
  },`,
  setup: `host.contribute('config.schema', host.name, {
    path: ['dumb', 'shared'],
    schema: globalThis.fixtureSections['${member} ${value}'],
  })`,
});

t.test('plugins share an object, and a member that is taken fails the second plugin', async t => {
  const app = await startWithPlugins(t, {
    first: sharing('colour', 'red'),
    second: sharing('shape', 'round'),
    third: sharing('colour', 'blue'),
  });
  t.match(
    app.host.plugins().find(({ name }) => name === 'third'),
    {
      state: 'failed',
      reason: 'dumb.shared.colour of third is already owned by first',
    },
  );
  t.same((await app.get('/config')).body.dumb.shared, { colour: 'red', shape: 'round' });
  const { properties } = (await app.get('/config/schema')).body.properties.dumb.properties.shared;
  t.match(properties, { colour: { default: 'red' }, shape: { default: 'round' } });
  for (const [updates, status] of [
    [{ colour: 1 }, 400],
    [{ shape: 1 }, 400],
    [{ colour: 'green', shape: 'flat' }, 200],
  ] as const) {
    t.equal((await app.post('/config', { updates: { dumb: { shared: updates } } })).status, status);
  }
});
