// A value in the file that does not fit its schema is replaced without the rest of its section.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';

/** Keys of blocks, with a list of booleans. */
const SWITCHES = {
  more: `config: z => {
    globalThis.fixtureSwitches = z.looseObject({ switches: z.array(z.object({ on: z.boolean() })).optional() })
    return z.looseObject({})
  },`,
  setup: `host.contribute('config.block', host.name, { schema: globalThis.fixtureSwitches })`,
};

/** Keys of blocks, with a list that may lose items, and one within a member that has a stand-in as a whole. */
const NAMES = `config: z => {
  const names = z.array(z.string().regex(/^[^ ]+$/, 'it must have no blanks'))
  globalThis.fixtureNames = z.looseObject({
    names: names.min(2).optional().meta({ fallback: true }),
    probe: z.object({ args: names.optional() }).optional().meta({ fallback: true }),
  })
  return z.looseObject({})
},`;

t.test('unfit items are left out of a list, which gets its default when none remain', async t => {
  const metrics = { system_scope: 'host', network_interfaces: ['eth0'] };
  const shown = async (own: Record<string, unknown>) => {
    const app = await startHost({
      plugins: ['metrics', 'config'],
      config: { dumb: { metrics: { ...metrics, ...own } } },
    });
    t.teardown(() => app.stop());
    const { body } = await app.get('/config');
    return body.dumb.metrics;
  };
  for (const [given, wanted] of [
    [['data', 'more', '/proc'], ['/proc']],
    [['data'], ['/']],
    [['data', 'more'], ['/']],
    [['/a', '/a'], ['/']],
    ['/', ['/']],
  ] as const) {
    const { filesystem_paths: paths, ...others } = await shown({ filesystem_paths: given });
    t.same(paths, wanted, JSON.stringify(given));
    t.match(others, metrics, 'the others are as they were');
  }
  const { network_interfaces: interfaces, ...others } = await shown({ network_interfaces: [''] });
  t.same(interfaces, ['all']);
  t.match(others, { system_scope: 'host' });
});

t.test('unfit items are left out of a list of a block, where its mark says that the others do without', async t => {
  const pair = {
    more: NAMES,
    setup: `host.contribute('config.block', host.name, { schema: globalThis.fixtureNames })`,
  };
  const app = await startWithPlugins(
    t,
    { names: pair },
    {
      shipped: ['config', 'process'],
      config: {
        some: { ...kid('Some', ['calm']), names: ['one', 'b d', 'two', 5] },
        few: { ...kid('Few', ['calm']), names: ['b d', 'two'] },
        none: { ...kid('None', ['calm']), names: ['b d'] },
        inner: { ...kid('Inner', ['calm']), probe: { args: ['one', 'b d', 'two'] } },
      },
    },
  );
  const shown = async (name: string) => (await app.get(`/config?process_name=${name}`)).body;
  t.same((await shown('Some')).names, ['one', 'two']);
  for (const name of ['Few', 'None']) t.equal((await shown(name)).names, undefined, 'too few are left');
  t.same((await shown('Inner')).probe, {}, 'what a list within the marked member says as a whole');
  const log = await ownLog(app);
  t.match(log, 'some.names.1: it must have no blanks; the other items of its list are used until it is mended');
  t.match(log, 'few.names.0: it must have no blanks; its default is used until it is mended');
});

t.test('words for booleans are understood in lists too', async t => {
  const id = 'one';
  const app = await startWithPlugins(
    t,
    { switches: SWITCHES },
    {
      shipped: ['notifications', 'config', 'process'],
      config: {
        dumb: {
          notifications: {
            destinations: [
              { id, enabled: 'No', verify_tls: 'on' },
              { id: 'two', enabled: 'maybe' },
            ],
          },
        },
        kid: { ...kid('Kid', ['calm']), switches: [{ on: 'yes' }, { on: false }] },
      },
    },
  );
  t.match((await app.get('/notifications/config')).body.destinations, [{ id, enabled: false, verify_tls: true }]);
  t.equal((await app.get('/notifications/config')).body.destinations.length, 1);
  t.same((await app.get('/config?process_name=Kid')).body.switches, [{ on: true }, { on: false }]);
  const log = await ownLog(app);
  for (const [place, word] of [
    ['dumb.notifications.destinations.0.enabled', 'No'],
    ['dumb.notifications.destinations.0.verify_tls', 'on'],
    ['kid.switches.0.on', 'yes'],
  ] as const)
    t.match(log, `${place}: the text '${word}' counts as a boolean; write true or false without quotes`);
  t.match(log, 'dumb.notifications.destinations.1.enabled: it must be true or false, not text; the other items');
});

t.test('an unfit item in a list of a block does not let another one in', async t => {
  const app = await startWithPlugins(
    t,
    { switches: SWITCHES },
    {
      shipped: ['config', 'process'],
      config: { kid: { ...kid('Kid', ['calm']), switches: [{ on: true }, { on: 5 }] } },
    },
  );
  const save = (updates: object) => app.post('/config', { updates: { kid: updates } });
  t.equal((await save({ log_level: 'DEBUG' })).status, 200, 'what stays as it is hinders no other change');
  t.equal((await save({ switches: [{ on: false }, { on: 5 }] })).status, 200);
  t.match(await save({ switches: [{ on: false }, { on: 6 }] }), {
    status: 400,
    body: { detail: 'kid.switches.1.on: it must be true or false, not a number' },
  });
});
