// Names such as `__proto__` from requests and from the configuration open nothing, and reach no prototype.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { Problem } from '../../core/contract/problem.ts';
import type { AccessCheck } from '../../core/contract/route.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';

/** What all objects inherit, as code that copies members by their name would change it. */
const inherited = Object.prototype as unknown as Record<string, unknown>;

// It runs before a host is loaded, because a host lets nothing be added to what all objects inherit.
t.test('an inherited member opens no route, no stream and no file of users', async t => {
  const configDir = testDir(t);
  const entrance = await openEntrance(configDir);
  t.teardown(() => entrance.close());
  const handle = () => 'secret';
  entrance.http.addRoute('a', { method: 'GET', path: '/secret', summary: 's', handle });
  entrance.http.addRoute('a', { method: 'GET', path: '/public', summary: 's', access: 'public', handle });
  const inherit = async (members: Record<string, unknown>, run: () => Promise<void>) => {
    Object.assign(inherited, members);
    await run().finally(() => {
      for (const name of Object.keys(members)) delete inherited[name];
    });
  };

  await writeFile(path.join(configDir, 'users.json'), '{"users":[{"username":"ann"}]}');
  await inherit({ enabled: false, access: 'public' }, async () => {
    t.equal((await entrance.request('GET', '/secret')).status, 503, 'users without a check');
  });
  const refusing: AccessCheck = {
    enabled: () => true,
    check() {
      throw new Problem(401, 'Authentication required');
    },
  };
  entrance.access = refusing;
  await inherit({ access: 'public' }, async () => {
    t.equal((await entrance.request('GET', '/secret')).status, 401, 'a route that does not say public');
    t.equal((await entrance.request('GET', '/public')).status, 200, 'a route that does');
  });
  entrance.access = { enabled: () => true, check: () => ({}) as never };
  await inherit({ username: 'ann' }, async () => {
    t.equal((await entrance.request('GET', '/secret')).status, 503, 'an identity without a name');
  });
});

t.test('requests and the configuration', async t => {
  const { pluginsDir, startHost } = await import('../support/host.ts');
  t.throws(() => Object.assign(inherited, { access: 'public' }), /not extensible/, 'nothing can be inherited anew');
  const ECHO = `export default { name: 'echo', host: '^1', setup: host => {
    const bare = value => Object.getPrototypeOf(value) === null;
    host.route({ method: 'POST', path: '/echo', summary: 'e', bodyLimitBytes: 1_000_000, body: host.z.unknown(),
      handle: ({ body }) => [bare(body), bare(body.list[0]), body.constructor === undefined] });
  } }`;
  const app = await startHost({
    plugins: ['config', 'wizard', 'echo'],
    pluginDirs: [pluginsDir, testDir(t, { echo: { 'index.js': ECHO } })],
    config: {},
  });
  t.teardown(() => app.stop());
  const body = { list: [{ a: 1 }] };
  t.same((await app.post('/echo', body)).body, [true, true, true], 'a body has no prototype');
  const large = { ...body, text: 'x'.repeat(100_000) };
  t.same((await app.post('/echo', large)).body, [true, true, true], 'nor has a large one');

  for (const name of ['__proto__', 'constructor', 'prototype'])
    for (const text of ['', 'x'.repeat(100_000)]) {
      const sent = `{"list":[{"${name}":{"access":"public"}}],"text":"${text}"}`;
      const answer = await app.request('POST', '/echo', {
        body: sent,
        headers: { 'content-type': 'application/json' },
      });
      t.match(answer, { status: 400, body: { detail: `The key '${name}' is not allowed` } });
    }

  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  for (const instance_name of ['__proto__', 'constructor']) {
    const core_services = [{ name: 'sonarr', instance_name, service_options: { sonarr: { port: 1 } } }];
    const answer = await app.post('/process/start-core-service', { core_services });
    t.match(
      answer,
      { status: 400, body: { detail: /'.*' is not allowed; choose another/ } },
      `an instance called ${instance_name}`,
    );
  }
  t.equal(await readFile(file, 'utf8'), before, 'nothing was saved');
  t.equal(({} as { port?: unknown }).port, undefined);

  for (const [name, text] of [
    ['stackwarden.json', '{"dumb":{"__proto__":{"access":"public"}}}'],
    ['stackwarden.yaml', 'dumb:\n  __proto__:\n    access: public\n'],
    ['stackwarden.yaml', 'dumb:\n  - constructor: 1\n'],
  ] as const) {
    const configDir = testDir(t, { [name]: text });
    const other = await startHost({ configDir, plugins: ['config'] });
    t.match(
      (await other.host.reviewConfig()).problems,
      [/the key '(__proto__|constructor)' is not allowed/i],
      `${name}: refused, and named`,
    );
    await other.stop();
  }
});
