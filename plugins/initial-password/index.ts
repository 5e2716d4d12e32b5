// Shows the initial credential of services that leave one on disk for their first login, and never caches it.
import path from 'node:path';
import { z } from 'zod';
import { answer, definePlugin } from '#core';
import type {} from '../services/contract.ts';
import { readCredential } from './credential-file.ts';

const NO_STORE_HEADERS = { 'Cache-Control': 'no-store, private', Pragma: 'no-cache' };

export default definePlugin({
  name: 'initial-password',
  host: '^1',
  needs: ['services'],

  setup(host) {
    const store = host.use('config.store');
    for (const { key, initialPassword } of host.use('service.templates').list()) {
      if (initialPassword === undefined) continue;
      host.route({
        method: 'GET',
        path: `/process/${key}-initial-admin-password`,
        summary: `The one-time credential of the first login to ${key}`,
        capability: `${key}_initial_admin_password`,
        response: z.object({
          available: z.boolean(),
          username: z.string(),
          password: z.string().nullable(),
          credential_kind: z.enum(['default', 'installation_specific']).nullable(),
        }),
        async handle() {
          const { username, files } = initialPassword;
          const directory = store.get([key, 'config_dir']);
          let password: string | undefined;
          if (typeof directory === 'string' && path.isAbsolute(directory)) {
            for (const file of files) {
              password ??= await readCredential(
                directory,
                file.replace('{config_dir}', () => directory),
              );
            }
          }
          const kind: 'default' | 'installation_specific' = password === username ? 'default' : 'installation_specific';
          return answer(
            {
              available: password !== undefined,
              username,
              password: password ?? null,
              credential_kind: password === undefined ? null : kind,
            },
            { headers: NO_STORE_HEADERS },
          );
        },
      });
    }
  },
});
