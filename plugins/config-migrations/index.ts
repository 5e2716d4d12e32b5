// Brings configurations of earlier releases to the present form, once, before anything is started from them.
import { definePlugin } from '#core';
import type {} from '../service-templates/contract.ts';
import { migrations } from './migrations.ts';

export default definePlugin({
  name: 'config-migrations',
  host: '^1',
  after: ['service-templates', 'process'],

  async setup(host) {
    const store = host.use('config.store');
    const templates = host.find('service.templates');
    const defaults = (key: string) => {
      const template = templates?.get(key);
      if (template === undefined || templates === undefined) return undefined;
      const block = templates.block(template);
      return template.instance === undefined ? block : { instances: { [template.instance]: block } };
    };
    // What cannot be saved is as it was, and is tried again at the next start.
    if (store.state !== 'valid') return;
    for (const { id, updates } of migrations) {
      const change = updates(store.root(), defaults);
      if (change === undefined) continue;
      const applied = (store.get('dumb.config_migrations') ?? []) as string[];
      const ids = [...new Set([...applied, id])];
      try {
        const dumb = { config_migrations: ids };
        await store.update({ updates: { ...change, dumb }, persist: true, actor: 'config-migrations' });
        host.log.info(`the configuration was brought to its present form: ${id}`);
      } catch (error) {
        host.log.error(`the configuration could not be brought to its present form: ${id}`, error);
      }
    }
  },
});
