// Configuration files of plain lines: postgresql.conf, rclone's and INI files.
import { definePlugin } from '#core';
import { formats } from './formats.ts';

export default definePlugin({
  name: 'format-conf',
  host: '^1',
  setup(host) {
    for (const format of formats) host.contribute('config.format', format.name, format);
  },
});
