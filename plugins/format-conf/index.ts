// Contributes the formats of postgresql.conf, of rclone's configuration and of INI files.
import { definePlugin } from '#core';
import { formats } from './formats.ts';

export default definePlugin({
  name: 'format-conf',
  host: '^1',
  setup(host) {
    for (const format of formats) host.contribute('config.format', format.name, format);
  },
});
