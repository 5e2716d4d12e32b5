// Contributes the format of Python settings files.
import { definePlugin } from '#core';
import { pythonFormat } from './python-file.ts';

export default definePlugin({
  name: 'format-python',
  host: '^1',
  setup(host) {
    host.contribute('config.format', pythonFormat.name, pythonFormat);
  },
});
