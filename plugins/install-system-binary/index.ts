// Programs that must be installed on the machine by its administrator.
import { definePlugin } from '#core';
import { systemBinaries } from './system-binaries.ts';

export default definePlugin({
  name: 'install-system-binary',
  host: '^1',
  needs: ['installs'],
  setup: host => host.contribute('install.source', 'system-binary', systemBinaries),
});
