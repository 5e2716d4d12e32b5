// The section of the configuration that belongs to a plugin: `dumb.<name>`, with `-` as `_`.
import { z } from 'zod';
import type { Plugin } from '../contract/plugin.ts';
import type { Registries } from './plugin-host.ts';
import type { Scope } from './scope.ts';

export function sectionPath(name: string): [string, string] {
  return ['dumb', name.replaceAll('-', '_')];
}

/** Registers and parses the plugin's section; an error's message has the path, never the value. */
export function parseSection(plugin: Plugin, { config }: Registries, scope: Scope): unknown {
  if (plugin.config === undefined) return {};
  const schema: unknown = plugin.config(z);
  if (!(schema instanceof z.ZodType))
    throw new Error("its 'config' returns no schema of the zod that it is given; return z.object({ ... })");
  const path = sectionPath(plugin.name);
  scope.own(config.addSection({ path, schema }, scope));
  const parsed = schema.safeParse(config.store.get(path) ?? {});
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    issue => `${[...path, ...issue.path.map(String)].join('.')}: ${issue.message}`,
  );
  throw new Error(`its configuration is not valid: ${issues.join('; ')}`);
}
