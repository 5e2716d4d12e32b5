// The default roots of requests: those of the templates, by their `order`.
import type { Host } from '#core';
import type {} from '../../services/contract.ts';

/** The root of libraries that several services fill. */
const COMBINED = { order: 30, path: '/mnt/debrid/combined_symlinks' };

export function defaultRoots(host: Host): string[] {
  const templates = host.find('service.templates')?.list() ?? [];
  const blocks = host.use('config.store').blocks();
  const found = templates.flatMap(({ key, symlinkRoots = [] }) =>
    symlinkRoots.map(({ order, path, option }) => {
      const own = blocks.filter(({ configKey }) => configKey === key);
      const values = option === undefined ? [] : own.map(({ block }) => block[option]);
      return { order, paths: path === undefined ? values.flat().filter(isPath) : [path] };
    }),
  );
  const all = [...found, { order: COMBINED.order, paths: [COMBINED.path] }];
  return [...new Set(all.sort((a, b) => a.order - b.order).flatMap(({ paths }) => paths))];
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
