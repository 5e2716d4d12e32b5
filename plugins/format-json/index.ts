// Contributes the format of JSON files.
import { definePlugin } from '#core';
import { jsonFormat } from './json-file.ts';

export default definePlugin({
  name: 'format-json',
  host: '^1',
  setup(host) {
    host.contribute('config.format', jsonFormat.name, jsonFormat);
  },
});
