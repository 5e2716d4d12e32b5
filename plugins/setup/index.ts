// Prepares services of a known kind before each launch: command, environment, program, directories and own files.
import { definePlugin } from '#core';
import { ServiceSetup } from './setup.ts';

export default definePlugin({
  name: 'setup',
  host: '^1',
  after: ['process', 'config-files', 'services'],

  setup(host) {
    const install = host.hook('service.install', 'series', { guarded: false });
    const setup = new ServiceSetup(host, context => install.promise(context));

    // Before the taps of others: they see the command and the variables that a template gives.
    host.tap(
      'process.prepare',
      async plan => {
        const template = host.find('service.templates')?.get(plan.configKey);
        if (template?.launch !== undefined) await setup.prepare(plan, template);
        return plan;
      },
      { stage: -10 },
    );
  },
});
