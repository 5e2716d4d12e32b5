// The applications of the Arr family, for every plugin that sets them up or hands them to another service.
import { definePlugin } from '#core';
import { Applications } from './applications.ts';

export default definePlugin({
  name: 'arr',
  host: '^1',
  after: ['config-files', 'service-templates'],

  setup(host) {
    host.provide('arr.applications', new Applications(host));
  },
});
