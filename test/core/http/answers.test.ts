// Answers fit their schemas: by type when a handler is written, and checked when tests run it.
import { Readable } from 'node:stream';
import t from 'tap';
import { z } from 'zod';
import { answer, definePlugin } from '../../../core/contract/plugin.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('every route of the product describes its answer', async t => {
  const app = await startHost({ pluginDirs: [pluginsDir] });
  t.teardown(() => app.stop());
  const { paths } = (await app.get('/openapi.json')).body;
  const operations = Object.entries<Record<string, { responses: Record<string, { content?: unknown }> }>>(paths ?? {});
  t.ok(operations.length > 30);
  for (const [path, methods] of operations) {
    for (const [method, { responses }] of Object.entries(methods)) {
      t.ok(responses[200]?.content, `${method} ${path} describes its answer`);
    }
  }
});

t.test('an answer that does not fit its schema fails, with its fault in the log only', async t => {
  const source = new Readable({ read: () => undefined });
  const lateAnswer = Object.assign(answer(source), { isAsked: false });
  Object.assign(globalThis, { lateAnswer });
  const app = await startWithPlugins(
    t,
    {
      answerer: {
        more: `config: z => {
          const response = z.object({ text: z.string() })
          globalThis.fixtureAnswer = response
          return z.looseObject({})
        },`,
        setup: `const object = globalThis.fixtureAnswer
          const route = (path, response, handle) => host.route({ method: 'GET', path, summary: 'x', response, handle })
          route('/good', object, () => ({ text: 'a', more: undefined }))
          route('/bad', object, () => ({ text: 1 }))
          route('/missing', object, () => undefined)
          route('/late', undefined, async ({ signal }) => {
            globalThis.lateAnswer.isAsked = true
            await new Promise(resolve => signal.addEventListener('abort', resolve))
            return globalThis.lateAnswer
          })`,
      },
    },
    { shipped: [] },
  );
  t.same((await app.get('/good')).body, { text: 'a' });
  for (const path of ['/bad', '/missing']) {
    t.match(await app.get(path), { status: 500, body: { detail: /^Internal error/ } }, path);
  }
  t.equal(app.host.plugins().find(({ name }) => name === 'answerer')?.errors.route, 2);

  const leaving = new AbortController();
  const left = fetch(`${app.base}/late`, { signal: leaving.signal }).catch(() => undefined);
  await until(() => lateAnswer.isAsked);
  leaving.abort();
  await until(() => source.destroyed, { what: 'the end of a stream whose client had left before it' });
  await left;
});

t.test('the type of a handler follows from its schema', async t => {
  const response = z.object({ name: z.string(), ports: z.array(z.number()) });
  const frozen: { readonly name: string; readonly ports: readonly number[] } = Object.freeze({ name: 'a', ports: [1] });
  const plugin = definePlugin({
    name: 'typed',
    host: '^1',
    setup(host) {
      const route = { method: 'GET', path: '/typed', summary: 'x', response } as const;
      host.route({ ...route, handle: () => frozen });
      host.route({ ...route, handle: async () => answer(frozen, { headers: { 'X-Kind': 'typed' } }) });
      // @ts-expect-error: a port is a number
      host.route({ ...route, handle: () => ({ name: 'a', ports: ['1'] }) });
      // @ts-expect-error: the body of an answer has to fit too
      host.route({ ...route, handle: () => answer({ name: 'a' }) });
      host.route({ method: 'GET', path: '/open', summary: 'x', handle: () => 'anything' });
    },
  });
  t.equal(plugin.name, 'typed', 'the compiler found both mistakes, and no others');
});
