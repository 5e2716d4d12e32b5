// An entry of the list of databases that is no object is told, in the log once, by a check and by a save.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';

const isHere = existsSync(new URL('../../../plugins/service-postgres/index.ts', import.meta.url));

t.test('texts in the list of databases', { skip: !isHere }, async t => {
  const databases = [{ name: 'own' }, 'words', null, '', '  '];
  const app = await startHost({
    config: { postgres: kid('PostgreSQL', ['calm'], { enabled: true, databases }) },
    plugins: ['config', 'process', 'services', 'setup', 'service-postgres'],
  });
  t.teardown(() => app.stop());
  const line = 'postgres.databases.1 is no object with a name, so no database is created for it; ';
  const { problems } = await app.host.reviewConfig();
  t.same(
    problems.filter(problem => problem.startsWith('postgres.databases')),
    [`${line}write {"name": "words"} instead`],
  );
  const save = async (list: readonly unknown[]) =>
    (await app.post('/config', { updates: { postgres: { databases: list } } })).body.warnings;
  const others = ['postgres://joe:hunter2@db/words', ['more'], 'x'.repeat(2_000)];
  const warnings = await save([...databases, ...others]);
  t.same(
    warnings.map((warning: string) => /^postgres\.databases\.(\d) .*"NAME"/.exec(warning)?.[1]),
    ['5', '6', '7'],
    'what is no usual name is not repeated',
  );
  t.notMatch(warnings.join(), /hunter2|more|xx/);
  t.same(await save([...databases, { name: 'more' }]), []);
  t.equal((await ownLog(app)).filter(text => text.includes(line)).length, 1);
});
