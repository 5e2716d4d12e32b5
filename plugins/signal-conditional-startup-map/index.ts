// A service needs another as long as a condition holds: a switch of its own, or that the other is in use at all.
import { definePlugin } from '#core';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-templates/contract.ts';
import { needsOf } from './conditions.ts';
import { PostgresFiles } from './postgres-files.ts';

export default definePlugin({
  name: 'signal-conditional-startup-map',
  host: '^1',

  setup(host) {
    const files = new PostgresFiles(host);
    // A service takes its file up when it starts.
    host.tap('process.started', async ({ processName }) => {
      if (await files.changed(processName)) host.find('dependency.graph')?.forget();
    });
    host.contribute('dependency.signal', 'conditional_startup_map', {
      signal: 'conditional_startup_map',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'What a service needs while a condition holds',
      async find(snapshot) {
        const templates = host.find('service.templates');
        const conditions = (key: string) => templates?.get(key)?.relations?.conditional ?? [];
        const usesDatabase = await files.users(snapshot.entries.filter(({ key }) => asksFile(conditions(key))));
        const needs = snapshot.entries.flatMap(entry => needsOf(entry, conditions(entry.key), snapshot, usesDatabase));
        return { needs };
      },
    });
  },
});

function asksFile(conditions: readonly { readonly when: string }[]): boolean {
  return conditions.some(({ when }) => when === 'postgres-enabled-or-in-file');
}
