// Programs that come as packages of Debian repositories.
import { definePlugin } from '#core';
import { aptPackages } from './apt-packages.ts';

export default definePlugin({
  name: 'install-apt',
  host: '^1',
  needs: ['installs'],
  setup: host => host.contribute('install.source', 'apt', aptPackages),
});
