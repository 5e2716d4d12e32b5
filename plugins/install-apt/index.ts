// Programs that are published as packages in Debian repositories.
import { definePlugin } from '#core';
import { declareHostState } from '#kit/host-state';
import { AptPackages } from './apt-packages.ts';
import { KEYS_FILE, KnownKeys } from './known-keys.ts';

export default definePlugin({
  name: 'install-apt',
  host: '^1',
  needs: ['installs'],
  setup(host) {
    declareHostState(KEYS_FILE);
    host.contribute('install.source', 'apt', new AptPackages(new KnownKeys(host.paths.configDir)));
  },
});
