// Programs that the machine itself has to have.
import { definePlugin } from '#core';
import { systemBinaries } from './system-binaries.ts';

export default definePlugin({
  name: 'install-system-binary',
  host: '^1',
  needs: ['installs'],
  setup: host => host.contribute('install.source', 'system-binary', systemBinaries),
});
