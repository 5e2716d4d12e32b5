// A service of the user that is to be updated from a repository, although no template says how: that is told in the log
// once, by a check and by a save.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';

const isHere = existsSync(new URL('../../../plugins/updates/index.ts', import.meta.url));

t.test('updates of services without a template', { skip: !isHere }, async t => {
  const repository = { repo_owner: 'me', repo_name: 'tool' };
  const app = await startHost({
    config: {
      shown: kid('Shown', ['calm'], { enabled: true, ...repository }),
      tool: kid('Tool', ['calm'], { enabled: true, ...repository, auto_update: true }),
      idle: kid('Idle', ['calm'], { enabled: false, ...repository, auto_update: true }),
      // Installed as its template says.
      sonarr: { instances: { Films: kid('Films', ['calm'], { enabled: true, auto_update: true }) } },
    },
    plugins: ['config', 'process', 'services', 'updates'],
  });
  t.teardown(() => app.stop());
  const line = (key: string) => new RegExp(`^${key}: .* cannot be installed .* no template says how; give ${key} one`);
  const { problems } = await app.host.reviewConfig();
  t.match(
    problems.filter(problem => problem.includes('Updates of')),
    [line('tool')],
  );
  const save = async (updates: object) => (await app.post('/config', { updates })).body.warnings;
  t.match(await save({ idle: { enabled: true } }), [line('idle')]);
  t.same(await save({ idle: { port: 8_181 } }), [], 'it is known already');
  const told = (await ownLog(app)).filter(text => text.includes('no template says how'));
  t.equal(told.filter(text => text.includes('Updates of Tool')).length, 1);
});
