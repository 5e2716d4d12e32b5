// Programs whose vendors announce archives in feeds of their own.
import { definePlugin } from '#core';
import { VendorArchives } from './vendor-archives.ts';

export default definePlugin({
  name: 'install-vendor-archive',
  host: '^1',
  needs: ['archives', 'installs'],
  setup: host => host.contribute('install.source', 'vendor-archive', new VendorArchives(host)),
});
