// What a plugin gives that JSON cannot hold is left out and counted as its own: the answers of the others stand.
import t from 'tap';
import { kid } from '../support/kids.ts';
import { startWithPlugins } from '../support/own-plugins.ts';
import { until } from '../support/until.ts';

const VALUES = {
  circle: 'const value = {}; value.self = value',
  bigint: 'const value = { count: 10n }',
  throwing: `const value = { get count () { throw new Error('none') } }`,
  deep: 'let value = {}; for (let depth = 0; depth < 10_000; depth += 1) value = { value }',
  // Each is in the one above twice, so that its text would be longer than any memory.
  laden: 'let value = {}; for (let depth = 0; depth < 60; depth += 1) value = { one: value, two: value }',
};

for (const [what, make] of Object.entries(VALUES)) {
  t.test(`${what}: lists, samples, events and diagnoses go on without it`, async t => {
    const app = await startWithPlugins(
      t,
      {
        rubbish: {
          more: "needs: ['process', 'metrics', 'ai'],",
          setup: `${make}
            host.contribute('process.entry', 'rubbish', { members: () => ({ rubbish: value }) })
            host.contribute('process.detail', 'rubbish', { members: async () => ({ rubbish: value }) })
            for (const place of ['sample', 'system', 'managed'])
              host.contribute('metrics.collector', 'rubbish_' + place, { place, collect: () => ({ kid: value }) })
            host.contribute('ai.native-collector', 'kid', { configKey: 'kid', collect: async () => ({ value }) })
            host.contribute('ai.evidence', 'rubbish', {
              coverage: { service: { rubbish: false } },
              collect: async () => ({ members: { rubbish: value } }),
            })
            host.event('rubbish', { description: 'Rubbish.' })
            host.route({ method: 'POST', path: '/rubbish', summary: 'Emits.', handle: () => host.emit('rubbish', { value }) })`,
        },
      },
      { shipped: ['config', 'process', 'metrics', 'ai', 'host-events'], config: { kid: kid('kid', ['calm']) } },
    );
    for (const path of ['/process/processes', '/process?process_name=kid', '/metrics']) {
      const { status, text } = await app.get(path);
      t.equal(status, 200, path);
      t.notMatch(text, /"(?:self|one|count)"/, path);
    }
    t.equal((await app.post('/ai/diagnose', { process_name: 'kid', question: '?', dry_run: true })).status, 200);
    t.equal((await app.post('/rubbish')).status, 500, 'whoever emits it is told');
    await until(async () => (await app.get('/host/events')).status === 200, { what: 'the events' });
    const { errors } = app.host.plugins().find(({ name }) => name === 'rubbish') ?? { errors: {} };
    t.match(errors, { contribution: Number, route: 1 });
    const others = app.host.plugins().filter(({ name }) => name !== 'rubbish');
    t.same(
      others.filter(({ errors }) => Object.keys(errors).length > 0).map(({ name }) => name),
      [],
    );
  });
}
