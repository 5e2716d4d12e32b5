// Contributes the format of YAML files.
import { definePlugin } from '#core';
import { yamlFormat } from './yaml-file.ts';

export default definePlugin({
  name: 'format-yaml',
  host: '^1',
  setup(host) {
    host.contribute('config.format', yamlFormat.name, yamlFormat);
  },
});
