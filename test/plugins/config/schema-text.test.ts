// The schema of a configuration with very many services is sent while the event loop goes on.
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { ConfigObject } from '../../../core/contract/config.ts';
import { schemaText } from '../../../plugins/config/schema-text.ts';
import { kid } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('the text of many parts lets other work in between', async t => {
  const total = 200;
  let made = 0;
  const slow = {
    toJSON() {
      made += 1;
      // Each takes its time, and more room than a piece of the stream.
      for (const endMs = performance.now() + 1; performance.now() < endMs; );
      return { description: 'x'.repeat(300_000) };
    },
  };
  const properties = Object.fromEntries(Array.from({ length: total }, (_, index) => [`s${index}`, { slow }]));
  let madeAtTurn: number | undefined;
  setImmediate(() => {
    madeAtTurn = made;
  });
  const schema = JSON.parse(await text(Readable.from(schemaText({ type: 'object', properties }))));
  t.equal(schema.type, 'object');
  t.same(Object.keys(schema.properties), Object.keys(properties));
  t.ok(madeAtTurn !== undefined && madeAtTurn < total, `other work came after ${madeAtTurn} parts`);
  for (const given of [{}, { type: 'object' }])
    t.same(JSON.parse(await text(Readable.from(schemaText(given)))), { ...given, properties: {} });
});

t.test('services with the same keys share one schema, so that its text is made once', async t => {
  const looking = { setup: `globalThis.fixtureSchema = () => host.use('config.store').jsonSchema()` };
  const names = ['"one"', 'two', 'drei ö'];
  const config = Object.fromEntries(names.map(name => [name, kid(name, ['calm'])]));
  const app = await startWithPlugins(t, { looking }, { shipped: ['config', 'process'], config });
  const shared = globalThis as { fixtureSchema?: () => ConfigObject };
  t.teardown(() => {
    delete shared.fixtureSchema;
  });
  const made = shared.fixtureSchema?.() ?? {};
  const [first, ...others] = names.map(name => (made.properties as ConfigObject)[name]);
  t.ok(first);
  for (const other of others) t.equal(other, first);
  const { headers, body } = await app.get('/config/schema');
  t.match(headers['content-type'], 'application/json');
  t.same(body, JSON.parse(JSON.stringify(made)));
});
