// The pause before an integration is tried again ends early when one of the two starts, and may be of any length.
import { once } from 'node:events';
import t from 'tap';
import type { ContributionList, Host } from '../../../core/contract/host.ts';
import type { Integration } from '../../../plugins/integrations/contract.ts';
import { IntegrationRunner } from '../../../plugins/integrations/runner.ts';

t.test('a start during a pause of more than 25 days', async t => {
  const warnings: string[] = [];
  const take = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', take);
  const over = new AbortController();
  t.teardown(() => {
    process.off('warning', take);
    over.abort();
  });
  const block = { processName: 'Target', configKey: 'target', block: {} };
  const services: Record<string, object> = {
    'config.store': { findBlock: () => block, blocks: () => [block] },
    'process.supervisor': { get: () => ({ status: 'running' }), health: () => ({ status: 'healthy' }) },
  };
  const events = new EventTarget();
  const tell = (name: string): void => void events.dispatchEvent(new Event(name));
  const host = {
    signal: over.signal,
    log: { info: () => undefined, warn: () => undefined, debug: () => tell('pause') },
    use: (name: string) => services[name],
    find: (name: string) => services[name],
    paced: () => 1,
  } as unknown as Host;
  let answers = false;
  const value: Integration = {
    targets: ['target'],
    providers: ['provider'],
    async apply() {
      if (!answers) throw new Error('it does not answer');
      tell('done');
    },
  };
  const integrations = [{ key: 'target-provider', value }] as unknown as ContributionList<Integration>;
  const runner = new IntegrationRunner(host, integrations, { disabled: [], answerMs: 0, retryMs: 1e13 });

  const paused = once(events, 'pause');
  runner.started('Target');
  await paused;
  await new Promise(setImmediate);
  t.same(warnings, [], 'Node does not cut the pause to a millisecond');
  answers = true;
  const done = once(events, 'done');
  runner.started('Target');
  await done;
});
