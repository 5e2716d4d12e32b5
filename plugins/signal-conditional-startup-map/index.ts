// Signal: a service needs another while a condition holds, such as an option of its own, or the other being enabled.
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { needsOf } from './conditions.ts';
import { FileAnswers } from './file-answers.ts';

export default definePlugin({
  name: 'signal-conditional-startup-map',
  host: '^1',

  setup(host) {
    const files = new FileAnswers(host);
    const look = async ({ processName }: { readonly processName: string }): Promise<void> => {
      if (files.asks(processName) && (await files.look())) host.find('dependency.graph')?.forget();
    };
    host.tap('config.file-changed', look);
    // A service may complete its file when it starts.
    host.tap('process.started', look);
    // Not awaited, so that a change of the configuration is not delayed; the next request for the graph waits for it.
    host.tap('config.changed', () => {
      files.look().catch((error: unknown) => host.log.warn('the files of services cannot be looked at', error));
    });
    host.contribute('dependency.signal', 'conditional_startup_map', {
      signal: 'conditional_startup_map',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'What a service needs while a condition holds',
      async find(snapshot) {
        const templates = host.find('service.templates');
        const conditions = (key: string) => templates?.get(key)?.relations?.conditional ?? [];
        const inFile = await files.affirmed(snapshot.entries);
        const namesOf = (key: string) => [key, ...(templates?.get(key)?.aliases ?? [])];
        const needs = snapshot.entries.flatMap(entry =>
          needsOf(entry, conditions(entry.key), snapshot, inFile, namesOf),
        );
        return { needs };
      },
    });
  },
});
