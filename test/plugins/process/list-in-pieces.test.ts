// The list of many processes is made in pieces, between which other work goes on, and still fits one configuration.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

const COUNT = 300;
const blockOf = (index: number) => ({ enabled: false, process_name: `Kid ${index}`, command: ['true'] });
const config = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`kid_${index}`, blockOf(index)]));
const names = (body: { processes: readonly { process_name: string }[] }) =>
  body.processes.map(entry => entry.process_name).filter(name => name !== 'DUMB API');

t.test('other work goes on while it is made', async t => {
  const setup = `
    let turn = 0
    const nextTurn = () => setImmediate(() => { turn += 1; if (!host.signal.aborted) nextTurn() })
    nextTurn()
    const work = () => { for (const until = performance.now() + 0.2; performance.now() < until;); }
    host.contribute('process.entry', 'turns', { members: () => (work(), { turn }), revision: () => 1 })`;
  const app = await startWithPlugins(t, { turns: { setup } }, { shipped: ['process', 'config'], config });
  const { processes } = (await app.get('/process/processes')).body;
  t.ok(new Set(processes.map(({ turn }: { turn: number }) => turn)).size > 1);
});

t.test('a change of the configuration meanwhile', async t => {
  const setup = `
    let tries = 0
    const add = async () => {
      const block = { process_name: 'Other', command: ['true'], tries: tries += 1 }
      await host.use('config.store').update({ updates: { other: block }, persist: false, actor: 'test' })
    }
    const members = ({ processName }) => {
      // Each list meets a change, so that no limit but that of the product ends it.
      if (processName === 'Kid 60') void add()
      for (const until = performance.now() + 0.2; performance.now() < until;);
      return {}
    }
    host.contribute('process.entry', 'changes', { members, revision: () => 1 })`;
  const app = await startWithPlugins(t, { changes: { setup } }, { shipped: ['process', 'config'], config });
  const listed = names((await app.get('/process/processes')).body);
  t.equal(listed.length, COUNT + 1);
  t.ok(listed.includes('Other'), 'what came meanwhile');
});
