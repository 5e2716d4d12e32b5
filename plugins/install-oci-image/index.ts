// Programs that are published as container images.
import { definePlugin } from '#core';
import { OciImages } from './oci-images.ts';

export default definePlugin({
  name: 'install-oci-image',
  host: '^1',
  needs: ['archives', 'installs'],
  setup: host => host.contribute('install.source', 'oci-image', new OciImages(host)),
});
