// Texts that nest deep or cost much, as bodies and as the configuration: refused with a sentence, and the host goes on.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { startWithPlugins } from '../support/own-plugins.ts';

const DEEP = 20_000;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

t.test('bodies', async t => {
  const app = await startWithPlugins(t, {
    echo: `host.route({ method: 'POST', path: '/echo', summary: 'e', bodyLimitBytes: 10_000_000, body: host.z.unknown(),
      handle: ({ body }) => ({ type: typeof body }) });
    host.route({ method: 'POST', path: '/texts', summary: 't', body: host.z.array(host.z.string()), handle: () => null });
    host.route({ method: 'POST', path: '/ask', summary: 'a', body: host.z.unknown(), async handle ({ body }) {
      const answer = await host.fetch(body.url);
      try {
        const [item] = answer.json().list;
        return [Object.keys(item), item.a ?? null];
      } catch (error) { return error.message; }
    } })`,
  });
  const send = (route: string, body: string) =>
    app.request('POST', route, { body, headers: { 'content-type': 'application/json' } });

  t.match(await send('/echo', nested(100)), { status: 200 }, '100 levels');
  const tooDeep = { status: 400, body: { detail: /nested deeper than 100 levels/ } };
  for (const [what, body] of Object.entries({
    '101 levels': nested(101),
    'objects in objects': `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
    'a large one': nested(2_000_000),
    'brackets that nothing closes': '['.repeat(DEEP),
    'brackets of two kinds that close nothing': '[}'.repeat(DEEP),
  })) {
    t.match(await send('/echo', body), tooDeep, what);
  }
  t.match(await send('/echo', JSON.stringify({ text: '['.repeat(DEEP) })), { status: 200 }, 'brackets of a text');
  const answers: Record<string, string> = {
    '/deep': '['.repeat(DEEP),
    '/large': `{"list":[{"__proto__":{"a":1}}],"x":"${'x'.repeat(100_000)}"}`,
  };
  const service = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json').end(answers[url]);
  });
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => service.close());
  const { port } = service.address() as AddressInfo;
  const ask = async (name: string) => (await app.post('/ask', { url: `http://127.0.0.1:${port}/${name}` })).body;
  t.match(await ask('deep'), /cannot be read as JSON: .*deeper than 100 levels/, 'the answer of a service');
  t.same(await ask('large'), [['__proto__'], null], 'and the names in a large one are data');
  const deepUpdate = `{"updates":{"dumb":{"x":${nested(98)}}},"persist":true}`;
  t.match(await send('/config', deepUpdate), { status: 400 }, 'a value that the file could not be read with again');

  const long = 'x'.repeat(200_000);
  const manyWrong = `{"updates":[],"persist":"${long}","process_name":${nested(90)}}`;
  const unknown = `{"updates":{"${long}":1},"persist":true}`;
  for (const [route, body] of [
    ['/config', manyWrong],
    ['/config', unknown],
    ['/texts', `[${'1,'.repeat(50_000)}1]`],
  ] as const) {
    const answer = await send(route, body);
    t.ok(answer.status === 400 || answer.status === 422, `${route} refuses`);
    t.ok(answer.text.length < 20_000, 'and does not send back what was sent');
  }

  const many = `[${'[],'.repeat(3_000_000)}[]]`;
  const [costly, other] = await Promise.all([send('/echo', many), app.get('/config')]);
  t.match(costly, { status: 413, body: { detail: String } }, 'three million lists');
  t.equal(other.status, 200, 'others are answered meanwhile');
  t.ok(costly.text.length < 300, 'the answer is short');
});

t.test('the configuration', async t => {
  const chain = Array.from({ length: 200 }, (_, i) => `a${i}: &a${i} [${i === 0 ? 1 : `*a${i - 1}`}]`).join('\n');
  const laughs = Array.from({ length: 30 }, (_, i) =>
    i === 0
      ? 'a0: &a0 [x, x]'
      : `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
  ).join('\n');
  for (const [what, name, text] of [
    ['JSON', 'stackwarden.json', `{"dumb":{"x":${nested(DEEP)}}}`],
    ['JSON that nothing closes', 'stackwarden.json', `{"dumb":${'{"a":'.repeat(DEEP)}`],
    ['YAML in brackets', 'stackwarden.yaml', `a: ${'['.repeat(DEEP)}`],
    ['YAML in lines', 'stackwarden.yaml', Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['YAML in one line', 'stackwarden.yaml', `${'- '.repeat(DEEP)}a`],
    ['aliases of aliases', 'stackwarden.yaml', chain],
    ['aliases that multiply', 'stackwarden.yaml', laughs],
    ['aliases without number', 'stackwarden.yaml', `a: &a 1\nb: [${'*a,'.repeat(DEEP)}]\n`],
    ['an alias of nothing', 'stackwarden.yaml', 'a: *b\n'],
    ['a merge of a text', 'stackwarden.yaml', 'dumb:\n  <<: text\n'],
  ] as const) {
    const configDir = testDir(t, { [name]: text });
    const app = await startHost({ configDir, plugins: ['config'] });
    const [problem = '', ...others] = (await app.host.reviewConfig()).problems;
    t.match(problem, new RegExp(`${name}.*(deeper than 100|more than 256 aliases|alias)`), what);
    t.ok(problem.length < 400 && others.length === 0, `${what}: in one short line`);
    t.equal((await app.get('/config')).status, 200, `${what}: the host runs`);
    await app.stop();
  }
});
