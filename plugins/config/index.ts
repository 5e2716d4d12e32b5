// The configuration over HTTP: reads and changes it, and serves the schemas that editors need.
import { Readable } from 'node:stream';
import { answer, type ConfigObject, type ConfigUpdate, definePlugin, Problem } from '#core';
import { requestedBlock } from '#kit/requested-block';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { underPresentNames } from './present-names.ts';
import { actingLater } from './restart-required.ts';
import { schemaText } from './schema-text.ts';
import { switchedOff } from './switched-off.ts';
import * as wire from './wire.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

export default definePlugin({
  name: 'config',
  host: '^1',

  setup(host) {
    const store = host.use('config.store');
    const block = (processName: string) => requestedBlock(store, processName);
    const update = async (change: ConfigUpdate & { readonly updates: ConfigObject }) => {
      const result = await store.update(change);
      const supervisor = host.find('process.supervisor');
      for (const name of switchedOff(change.updates, change.processName, store.blocks()))
        await supervisor?.disregardStart(name);
      const restartRequired = actingLater(result.restartRequired, store.blocks(), supervisor);
      return wire.resultToWire({ ...result, restartRequired });
    };

    host.route({
      method: 'GET',
      path: '/config',
      summary: 'The effective configuration, or one service block of it',
      query: wire.readQuery,
      response: wire.configAnswer,
      handle: ({ query }) =>
        store.shown(query.process_name === undefined ? [] : block(query.process_name).path) as ConfigObject,
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
        const by = { actor: identity.username ?? 'api', byAnybody: host.find('access')?.enabled() !== true };
        if (name === undefined || name === null || name === '') {
          const present = underPresentNames(updates, store.root(), host.find('service.templates'));
          const result = await update({ updates: present, persist: persist ?? true, ...by });
          return { status: 'updated' as const, keys: Object.keys(updates), ...result };
        }
        const { processName } = block(name);
        const result = await update({ processName, updates, persist: persist ?? false, ...by });
        return { status: 'updated' as const, process_name: processName, ...result };
      },
    });

    host.route({
      method: 'GET',
      path: '/config/schema',
      summary: 'JSON Schema (draft 7) of the whole configuration',
      response: wire.schemaAnswer,
      handle: () => answer(Readable.from(schemaText(store.jsonSchema())), { headers: JSON_TYPE }),
    });

    host.route({
      method: 'POST',
      path: '/config/process-config/schema',
      summary: 'JSON Schema (draft 7) of one service block',
      changesNothing: true,
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
