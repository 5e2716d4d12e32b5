// Configuration files of plain lines: INI files, and those of services whose templates name their dialect.
import { definePlugin } from '#core';
import type {} from '../services/contract.ts';
import { formatsOf } from './formats.ts';

export default definePlugin({
  name: 'format-conf',
  host: '^1',
  after: ['services'],
  setup(host) {
    const templates = host.find('service.templates')?.list() ?? [];
    for (const format of formatsOf(templates)) host.contribute('config.format', format.name, format);
  },
});
