// Authelia: writes its configuration and its secrets.

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import { isObject } from '#kit/plain-object';
import type {} from '../config-files/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { absentPlaces, configuration, sendsMail } from './configuration.ts';

const KEY = 'authelia';
const SECRET_BYTES = 48;
/** Secrets that are generated once and kept: with a new one, stored data are unreadable or all users are logged out. */
const GENERATED = ['session', 'storage', 'reset-password'];
const OIDC_SECRET = 'oidc-hmac';
const OIDC_VARIABLE = 'AUTHELIA_IDENTITY_PROVIDERS_OIDC_HMAC_SECRET_FILE';
/** The user who sets up mail creates this file. */
const SMTP_SECRET = 'smtp-password';
const SMTP_VARIABLE = 'AUTHELIA_NOTIFIER_SMTP_PASSWORD_FILE';

const factsSchema = z.object({
  givenSecrets: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .describe('files of its secrets that follow other services'),
});

export default definePlugin({
  name: 'service-authelia',
  host: '^1',
  after: ['setup'],

  setup(host) {
    const configure = async (context: SetupContext): Promise<void> => {
      const { plan, block, template, owner, fill } = context;
      const files = host.find('config.files');
      if (files === undefined || plan.cwd === undefined) return;
      const secrets = path.join(plan.cwd, 'secrets');
      const write = (name: string, text: string) =>
        files.write(block, path.join(secrets, name), text, { mode: 0o600, owner });
      const generate = async (name: string): Promise<void> => {
        if ((await fileVersion(path.join(secrets, name))) !== null) return;
        await write(name, randomBytes(SECRET_BYTES).toString('hex'));
      };
      for (const name of GENERATED) await generate(name);
      for (const { name, value } of factsSchema.parse(template.facts).givenSecrets) await write(name, fill(value));

      const file = fill('{config_file}');
      let hasClients = false;
      const values = (present: Record<string, unknown>) => {
        hasClients = clientsOf(present) > 0;
        return configuration(block, present);
      };
      const absent = (present: Record<string, unknown>) => absentPlaces(block, present);
      await files.ensure(block, file, { seed: undefined, values, initial: {}, absent, mode: 0o600, owner });
      if (hasClients) {
        await generate(OIDC_SECRET);
        plan.env[OIDC_VARIABLE] ??= path.join(secrets, OIDC_SECRET);
      }
      if (sendsMail(block.block)) plan.env[SMTP_VARIABLE] ??= path.join(secrets, SMTP_SECRET);
    };
    host.contribute('service.configure', KEY, { configKey: KEY, configure });
  },
});

function clientsOf({ identity_providers: providers }: Record<string, unknown>): number {
  const oidc = isObject(providers) ? providers.oidc : undefined;
  return isObject(oidc) && Array.isArray(oidc.clients) ? oidc.clients.length : 0;
}
