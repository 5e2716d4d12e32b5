// Contributes the format of XML files.
import { definePlugin } from '#core';
import { xmlFormat } from './xml-file.ts';

export default definePlugin({
  name: 'format-xml',
  host: '^1',
  setup(host) {
    host.contribute('config.format', xmlFormat.name, xmlFormat);
  },
});
