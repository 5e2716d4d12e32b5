// A plugin to copy: name the folder, put the same name below, and it is loaded from {config_dir}/plugins.
export default {
  name: 'plugin',
  version: '0.1.0',
  host: '^1',
  after: ['process'],
  config: z => z.object({ greeting: z.string().default('Hello') }),

  setup(host, config) {
    host.route({
      method: 'GET',
      path: '/plugin',
      summary: 'Greets',
      capability: 'plugin',
      handle: () => ({ text: config.greeting }),
    });
    host.on('*', event => host.log.info(`${event.type} of ${event.plugin}`));
    return () => host.log.info('gone');
  },
};
