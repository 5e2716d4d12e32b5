// Cloudflared: finds the token of its tunnel and passes it in an environment variable, never as an argument, which
// every process on the machine can read.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type Host, Problem } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { OptionsContext } from '../setup/contract.ts';

const KEY = 'cloudflared';
const MAX_SECRET_BYTES = 16 * 1024;
const SHELL = /(?:^|\/)(?:ba|da|a)?sh$/;

const factsSchema = z.object({
  variable: z.string().describe('in which the program reads its token'),
  names: z.array(z.string()).describe('of variables and of files in secretsDir that may hold it'),
  secretsDir: z.string(),
});

type Facts = z.output<typeof factsSchema>;

export default definePlugin({
  name: 'service-cloudflared',
  host: '^1',
  after: ['setup'],

  setup(host) {
    host.contribute('service.program', KEY, {
      configKey: KEY,
      async check(context) {
        const facts = factsSchema.parse(context.template.facts);
        if ((await tokenFor(context, facts, host)) === undefined)
          throw new Problem(
            400,
            `${context.block.processName} cannot start: it has no token; set tunnel_token, or ${facts.variable} in its env`,
          );
      },
      async choose(context) {
        const facts = factsSchema.parse(context.template.facts);
        const token = await tokenFor(context, facts, host);
        if (token !== undefined) context.plan.env[facts.variable] = token;
      },
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ plan, block }) {
        if (SHELL.test(plan.argv[0] ?? ''))
          host.log.warn(
            `${block.processName}: its command runs a shell, which can show the token to every process; remove the command`,
          );
      },
    });
  },
});

async function tokenFor(context: OptionsContext, facts: Facts, host: Host): Promise<string | undefined> {
  return tokenOf(context, facts, process.env) ?? (await tokenInFile(facts, host));
}

/** The option takes precedence over variables of the block, and these over the host's own environment. */
function tokenOf({ plan, block }: OptionsContext, { names }: Facts, env: NodeJS.ProcessEnv): string | undefined {
  const own = (block.block.env ?? {}) as Record<string, unknown>;
  const ofBlock = names.map(name => (Object.hasOwn(own, name) ? plan.env[name] : undefined));
  const ofHost = names.map(name => env[name]);
  return [block.block.tunnel_token, ...ofBlock, ...ofHost].map(textIn).find(text => text !== undefined);
}

async function tokenInFile({ names, secretsDir }: Facts, host: Host): Promise<string | undefined> {
  for (const name of names) {
    const file = path.join(secretsDir, name);
    try {
      const content = await GuardedDirectory.at(file, (directory, last) => directory.read(last, MAX_SECRET_BYTES));
      const token = textIn(content?.toString('utf8'));
      if (token !== undefined) return token;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') host.log.warn(`${file} cannot be read`, error);
    }
  }
  return undefined;
}

function textIn(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}
