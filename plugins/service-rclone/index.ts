// Mounts by rclone: writes the remote to its file, frees the mount point, and waits for the service whose files it
// mounts.
import { definePlugin } from '#core';
import type {} from '../config-files/contract.ts';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../health-probe/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../services/mount-control.ts';
import type {} from '../setup/contract.ts';
import type {} from '../wizard/contract.ts';
import { attachMount } from './attachment.ts';
import { configureMount } from './launch.ts';
import { RemoteControls } from './remote-controls.ts';
import { providerSignals } from './signals.ts';

const KEY = 'rclone';
export default definePlugin({
  name: 'service-rclone',
  host: '^1',
  after: ['setup', 'services'],

  setup(host) {
    const controls = new RemoteControls(host);
    host.provide('mount.control', processName => controls.of(processName));
    host.contribute('process.probe', KEY, {
      configKey: KEY,
      async check({ processName }, ask) {
        const control = await controls.of(processName);
        if (control === undefined) return undefined;
        const { port, user, password } = control;
        const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
        const headers: Record<string, string> = user === '' ? {} : { authorization };
        return ask({ method: 'POST', path: '/core/version', port, headers, jsonKey: 'version' });
      },
    });

    const templates = host.find('service.templates')?.list() ?? [];
    for (const source of providerSignals(KEY, templates)) host.contribute('dependency.signal', source.signal, source);
    host.contribute('wizard.component', KEY, {
      configKey: KEY,
      attach: request => attachMount(request, host.use('service.templates'), host.paths.logDir),
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      configure: context => configureMount(host, controls, context),
    });
  },
});
