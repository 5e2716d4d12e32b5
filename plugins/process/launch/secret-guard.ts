// Refuses changes by which a caller without credentials would give secrets of the host to a service, and so read them.
import { Problem } from '#core';
import { findBlocks } from '#kit/named-blocks';
import { isObject } from '#kit/plain-object';
import { publicEnvironment } from '#kit/public-environment';

type Members = Readonly<Record<string, unknown>>;

/** Throws a Problem 403 when a block asks for a secret of the environment `own` for which it has not asked before. */
export function guardSecrets(before: Members, after: Members, own: Readonly<NodeJS.ProcessEnv>, file: string): void {
  const shown = publicEnvironment(own);
  const isSecret = (name: string): boolean => Object.hasOwn(own, name) && !Object.hasOwn(shown, name);
  const known = new Map(findBlocks(before).map(({ processName, block }) => [processName, block]));
  for (const { processName, block } of findBlocks(after)) {
    const former = known.get(processName);
    // A save leaves most blocks the same objects.
    if (former === block) continue;
    const asked = former === undefined ? new Set() : askedFor(former);
    const secret = [...askedFor(block)].find(name => isSecret(name) && !asked.has(name));
    if (secret === undefined) continue;
    throw new Problem(
      403,
      `${processName} cannot be given ${secret}, a secret of Stackwarden's environment, while authentication is off; ` +
        `switch it on, or ask for it in ${file}`,
    );
  }
}

/** The variables of the host that a block, which need not fit its schema, names in `env_passthrough` and in `env`. */
function askedFor({ env_passthrough: passed, env }: Members): ReadonlySet<string> {
  const values = textsOf(Object.values(isObject(env) ? env : {}));
  const named = values.flatMap(value => [...value.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  return new Set([...(Array.isArray(passed) ? textsOf(passed) : []), ...named]);
}

function textsOf(values: readonly unknown[]): string[] {
  return values.filter(value => typeof value === 'string');
}
