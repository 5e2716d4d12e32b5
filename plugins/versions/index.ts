// Versions of the programs that services run: looked up in the background as the templates say, shown with each
// process, and available to services as placeholders.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from './contract.ts';
import { Versions } from './versions.ts';

const INTERVAL_MS = 60_000;
/** `{program_version}` is the version as shown, `{program_number}` without the `v`. */
const PLACEHOLDER = /\{program_(?:version|number)\}/;

export default definePlugin({
  name: 'versions',
  host: '^1',
  needs: ['services'],
  after: ['process'],

  setup(host) {
    const versions = new Versions(host);
    host.provide('service.versions', versions);

    host.contribute('process.entry', 'version', {
      members: ({ processName, isHost }) => (isHost ? {} : { version: versions.of(processName) }),
      revision: () => versions.revision,
    });
    host.contribute('process.placeholders', 'versions', {
      values({ processName }) {
        const version = versions.of(processName) ?? '';
        return { program_version: version, program_number: version.replace(/^v(?=\d)/, '') };
      },
    });

    host.every(host.paced(INTERVAL_MS), () => versions.round());
    host.tap('host.ready', () => versions.soon());
    host.tap('config.changed', () => versions.soon());
    host.tap('process.started', () => versions.soon());
    // Runs before the set-up fills in the variables.
    host.tap(
      'process.prepare',
      async plan => {
        const variables = host.use('service.templates').get(plan.configKey)?.launch?.environment ?? [];
        if (variables.some(({ value }) => PLACEHOLDER.test(value))) await versions.refresh(plan.processName);
        return plan;
      },
      { stage: -15 },
    );
    return () => versions.end();
  },
});
