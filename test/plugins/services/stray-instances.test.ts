// Instances of a service of which the catalogue has only one are told, in the log once, by a check and by a save.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';

const isHere = existsSync(new URL('../../../plugins/services/index.ts', import.meta.url));

t.test('instances where the catalogue has one service', { skip: !isHere }, async t => {
  const app = await startHost({
    config: {
      tautulli: {
        instances: { Den: kid('Den', ['calm'], { enabled: true }), Idle: kid('Idle', ['calm'], { enabled: false }) },
      },
      sonarr: { instances: { Films: kid('Films', ['calm'], { enabled: true }) } },
    },
    plugins: ['config', 'process', 'services'],
  });
  t.teardown(() => app.stop());
  const line = /^tautulli\.instances\.(?:Den|Idle): Tautulli has no instances, so .* or the block to a key of its own$/;
  const { problems } = await app.host.reviewConfig();
  t.match(
    problems.filter(problem => problem.includes('instances')),
    [line],
  );
  const save = async (updates: object) => (await app.post('/config', { updates })).body.warnings;
  t.match(await save({ tautulli: { instances: { Idle: { enabled: true } } } }), [line]);
  t.same(await save({ tautulli: { instances: { Den: { port: 8_181 } } } }), [], 'it is known already');
  const told = (await ownLog(app)).filter(text => text.includes('Tautulli has no instances'));
  t.equal(told.filter(text => text.includes('instances.Den')).length, 1);
});
