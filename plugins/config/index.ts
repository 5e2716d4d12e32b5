// The configuration over HTTP: read, change, and the schemas that editors need.
import { type ConfigObject, definePlugin, type Host, Problem } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../service-templates/contract.ts';
import { withoutSecrets, withStoredSecrets } from './never-returned.ts';
import { needingRestart } from './restart-required.ts';
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
    let last: { readonly of: object; readonly root: object } | undefined;
    /** The same frozen object until the configuration changes, so that it is made into text once. */
    const root = () => {
      const current = store.root();
      if (last?.of !== current) last = { of: current, root: Object.freeze(withoutSecrets(current)) };
      return last.root;
    };
    const update = async (change: Parameters<typeof store.update>[0]) => {
      const result = await store.update(change);
      const forServices = needingRestart(result.changed, store, host.find('process.supervisor'));
      return wire.resultToWire({ ...result, restartRequired: [...result.restartRequired, ...forServices] });
    };

    host.route({
      method: 'GET',
      path: '/config',
      summary: 'The effective configuration, or one service block of it',
      query: wire.readQuery,
      response: wire.configAnswer,
      handle: ({ query }) =>
        shown(query.process_name === undefined ? root() : block(query.process_name).block) as ConfigObject,
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
          refuseBothNames(host, updates);
          const complete = withStoredSecrets(updates, store.root());
          const result = await update({ updates: complete, persist: persist ?? true, actor });
          return { status: 'updated' as const, keys: Object.keys(updates), ...result };
        }
        const { processName } = block(name);
        const result = await update({ processName, updates, persist: persist ?? false, actor });
        return { status: 'updated' as const, process_name: processName, ...result };
      },
    });

    host.route({
      method: 'GET',
      path: '/config/schema',
      summary: 'JSON Schema (draft 7) of the whole configuration',
      response: wire.schemaAnswer,
      handle: () => store.jsonSchema(),
    });

    host.route({
      method: 'POST',
      path: '/config/process-config/schema',
      summary: 'JSON Schema (draft 7) of one service block',
      body: wire.blockSchemaBody,
      response: wire.schemaAnswer,
      handle({ body }) {
        const found = block(body.process_name);
        const schema = store.blockSchema(found);
        if (schema === undefined) throw new Problem(404, `${found.processName} has no schema`);
        return schema;
      },
    });
  },
});

/** A service under its present and its former key at once would be two truths. */
function refuseBothNames(host: Host, updates: Readonly<Record<string, unknown>>): void {
  for (const { key, aliases = [] } of host.find('service.templates')?.list() ?? []) {
    const former = aliases.find(alias => Object.hasOwn(updates, alias));
    if (former !== undefined && Object.hasOwn(updates, key))
      throw new Problem(409, `${former} is the former name of ${key}; send one of them`);
  }
}
