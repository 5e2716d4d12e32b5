// The configuration over HTTP: read, change, and the schemas that editors need.
import { definePlugin, Problem } from '#core';
import * as wire from './wire.ts';

const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

export default definePlugin({
  name: 'config',
  host: '^1',

  setup(host) {
    const store = host.use('config.store');
    const block = (processName: string) => {
      if (processName.trim() === '') throw new Problem(400, 'process_name is required');
      const found = store.findBlock(processName);
      if (found === undefined) throw new Problem(404, 'Process not found');
      return found;
    };
    const shown = (value: unknown) =>
      store.get('dumb.api_service.mask_secrets') === true ? store.masked(value) : value;

    host.route({
      method: 'GET',
      path: '/config',
      summary: 'The effective configuration, or one service block of it',
      query: wire.readQuery,
      handle: ({ query }) => shown(query.process_name === undefined ? store.root() : block(query.process_name).block),
    });

    host.route({
      method: 'POST',
      path: '/config',
      summary: 'Changes the configuration, in memory or on disk',
      bodyLimitBytes: BODY_LIMIT_BYTES,
      body: wire.updateBody,
      response: wire.updateAnswer,
      async handle({ body: { process_name: name, updates, persist }, identity }) {
        if (Object.keys(updates).length === 0) throw new Problem(400, 'updates is empty; name at least one key');
        const actor = identity.username ?? 'api';
        if (name === undefined || name === null || name === '') {
          const result = await store.update({ updates, persist: persist ?? true, actor });
          return { status: 'updated', keys: Object.keys(updates), ...wire.resultToWire(result) };
        }
        const { processName } = block(name);
        const result = await store.update({ processName, updates, persist: persist ?? false, actor });
        return { status: 'updated', process_name: processName, ...wire.resultToWire(result) };
      },
    });

    host.route({
      method: 'GET',
      path: '/config/schema',
      summary: 'JSON Schema (draft 7) of the whole configuration',
      handle: () => store.jsonSchema(),
    });

    host.route({
      method: 'POST',
      path: '/config/process-config/schema',
      summary: 'JSON Schema (draft 7) of one service block',
      body: wire.blockSchemaBody,
      handle({ body }) {
        const found = block(body.process_name);
        const schema = store.blockSchema(found);
        if (schema === undefined) throw new Problem(404, `${found.processName} has no schema`);
        return schema;
      },
    });
  },
});
