// Prowlarr gets managers and indexers, and keeps what people changed.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { arr, fieldsOf, keyOf, listener, type State, startStack, stateOf } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-prowlarr', 'service-zilean'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

t.test('Prowlarr gets the managers and the indexer of this host', { skip }, async t => {
  const dir = testDir(t, {});
  const prowlarr = await arr(dir, 'prowlarr', 'Prowlarr');
  const zilean = await listener(dir, 'Zilean');
  const base = '  <UrlBase>/adult</UrlBase>\n';
  const whisparr = await arr(dir, 'whisparr', 'Whisparr', { core_service: 'decypharr, riven_backend' }, base);
  const host = await startStack(t, dir, false, {
    prowlarr: { instances: { Default: prowlarr } },
    whisparr: { instances: { Default: whisparr } },
    decypharr: await listener(dir, 'Decypharr'),
    zilean,
  });
  const application = await until(async () => (await stateOf(dir, 'Prowlarr')).applications[0], { what: 'Whisparr' });
  t.match(application, { name: 'Whisparr (Default)', implementation: 'Whisparr', syncLevel: 'fullSync' });
  const { prowlarrUrl, baseUrl, apiKey, syncCategories } = fieldsOf(application);
  t.equal(prowlarrUrl, `http://127.0.0.1:${prowlarr.port}`);
  t.equal(baseUrl, `http://127.0.0.1:${whisparr.port}/adult`, 'with the base of its addresses');
  t.equal(apiKey, await keyOf(dir, 'Whisparr'));
  t.ok([2_000, 5_045, 6_090].every(category => (syncCategories as number[]).includes(category)));
  const indexer = await until(async () => (await stateOf(dir, 'Prowlarr')).indexer[0], { what: 'the indexer' });
  t.match(indexer, { name: 'Zilean', definitionName: 'Generic Torznab', enable: true, appProfileId: 3 });
  t.equal(fieldsOf(indexer).baseUrl, `http://127.0.0.1:${zilean.port}/torznab`);
  const { tag } = await stateOf(dir, 'Prowlarr');
  t.same(
    tag.map((one: State) => one.label),
    ['mine', 'decypharr'],
    'one label for both',
  );
  t.same([application.tags, indexer.tags], [[2], [2]]);

  const api = `http://127.0.0.1:${prowlarr.port}/api/v1`;
  const headers = { 'x-api-key': await keyOf(dir, 'Prowlarr'), 'content-type': 'application/json' };
  const renamed = { ...application, name: 'My films', tags: [1], syncLevel: 'addOnly' };
  await fetch(`${api}/applications/${application.id}`, { method: 'PUT', headers, body: JSON.stringify(renamed) });
  t.equal((await host.post('/process/restart-service', { process_name: 'Whisparr' })).status, 200);
  const again = await until(async () => {
    const [found] = (await stateOf(dir, 'Prowlarr')).applications;
    return found.tags.length > 1 && found;
  });
  t.match(again, { name: 'My films', syncLevel: 'addOnly', tags: [1, 2] }, 'what the user changed stays');
  t.equal((await stateOf(dir, 'Prowlarr')).applications.length, 1, 'found again by its address');
});
