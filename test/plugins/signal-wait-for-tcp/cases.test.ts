// Local ports that a service waits for, and the switch of the sample plugin.
import { existsSync } from 'node:fs';
import t from 'tap';
import { testSignalSource } from '../../contracts/signal-source.ts';
import { edgesOf, startGraph } from '../../support/graph.ts';
import { pluginsDir } from '../../support/host.ts';
import { contributionOf } from '../../support/templates.ts';

const skip = !existsSync(`${pluginsDir}/dependency-graph/index.ts`);
const block = (processName: string, more: object = {}) => ({ process_name: processName, enabled: true, ...more });

testSignalSource(
  () => contributionOf('signal-wait-for-tcp', 'dependency.signal', { section: { enabled: true } }),
  [
    {
      name: 'the listener of a local port, in a list or alone',
      config: {
        a: block('A', { wait_for_tcp: [{ name: 'db', host: '127.0.0.1', port: 5001 }] }),
        b: block('B', { port: 5001 }),
        c: block('C', { wait_for_tcp: { port: 5001 } }),
      },
      finds: ['B -> A', 'B -> C'],
    },
    {
      name: 'an enabled listener before a disabled one',
      config: {
        a: block('A', { wait_for_tcp: [{ host: 'LocalHost', port: 5001 }] }),
        b: block('B', { port: 5001, enabled: false }),
        c: block('C', { backend_port: 5001 }),
      },
      finds: ['C -> A'],
    },
    {
      name: 'a host that is the name of a service',
      config: { a: block('A', { wait_for_tcp: [{ host: 'b', port: 9 }] }), b: block('B', { port: 5001 }) },
      finds: ['B -> A'],
    },
    {
      name: 'another machine, its own port, and what is no wait',
      config: {
        a: block('A', { port: 5002, wait_for_tcp: [{ host: 'nas.example', port: 5001 }, { port: 5002 }, null, 'b'] }),
        b: block('B', { port: 5001 }),
      },
      finds: [],
    },
  ],
);

t.test('the signal is off until it is enabled', { skip }, async t => {
  const { of, app } = await startGraph(t, {
    server: block('Server', { enabled: false, port: 17_777 }),
    client: block('Client', { enabled: false, wait_for_tcp: [{ port: 17_777, password: 'hunter2hunter2' }] }),
  });
  const before = await of('Client');
  t.same(edgesOf(before), []);
  t.equal(before.dependency_truth_table.length, 12);
  t.notMatch(JSON.stringify(before), /hunter2/, 'of a wait only what is known is shown');

  await app.post('/config', { updates: { dumb: { signal_wait_for_tcp: { enabled: true } } }, persist: false });
  const after = await of('Client');
  t.same(edgesOf(after), ['Server -> Client: wait_for_tcp']);
  t.match(after.dependency_truth_table[12], {
    signal: 'wait_for_tcp',
    strength: 'hard_configured',
    source: 'plugin:signal-wait-for-tcp',
  });
});
