// The part of `dumb.metrics` that says what is sampled. What a file already holds is brought into bounds, never
// refused.
import path from 'node:path';
import { z } from 'zod';

const MAX_LISTED = 32;
const MAX_NAME_LENGTH = 64;

const absolutePath = z
  .string()
  .regex(/^\s*\//, 'it must be an absolute path')
  .refine(text => !/[\n\0]/.test(text), 'it must be one line');

export const metricsSection = z.object({
  system_scope: z
    .enum(['auto', 'host', 'cgroup', 'container'])
    .default('auto')
    .meta({ description: 'Whether CPU and memory are those of the machine (host) or of this container (cgroup)' }),
  filesystem_paths: z
    .array(absolutePath)
    .min(1)
    .max(MAX_LISTED)
    .refine(isUnique, 'a path stands in it twice')
    .default(['/'])
    .meta({ description: 'Paths whose file systems are watched; the first is shown where there is room for one' }),
  network_interfaces: z
    .array(z.string().min(1).max(MAX_NAME_LENGTH))
    .min(1)
    .max(MAX_LISTED)
    .refine(isUnique, 'an interface stands in it twice')
    .default(['all'])
    .meta({ description: 'Network interfaces that are counted; all stands for every one' }),
});

export type MetricsSettings = {
  readonly scope: 'auto' | 'host' | 'cgroup';
  /** Normalised paths; the first is shown where there is room for one. */
  readonly paths: readonly string[];
  /** null when all interfaces are counted. */
  readonly interfaces: readonly string[] | null;
};

/** Reads the section; values that are missing or not valid are replaced by the defaults. */
export function readSettings(section: unknown): MetricsSettings {
  const { system_scope, filesystem_paths, network_interfaces } = (section ?? {}) as Record<string, unknown>;
  const paths = textsOf(filesystem_paths)
    .filter(text => path.isAbsolute(text) && !/[\n\0]/.test(text))
    .map(text => path.resolve(text));
  const names = textsOf(network_interfaces);
  const isAll = names.length === 0 || names.some(name => name.toLowerCase() === 'all');
  return {
    scope:
      system_scope === 'host' ? 'host' : system_scope === 'cgroup' || system_scope === 'container' ? 'cgroup' : 'auto',
    paths: paths.length === 0 ? ['/'] : [...new Set(paths)].slice(0, MAX_LISTED),
    interfaces: isAll ? null : [...new Set(names)].slice(0, MAX_LISTED),
  };
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter(member => typeof member === 'string').map(text => text.trim());
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}
