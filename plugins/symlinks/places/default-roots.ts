// The default roots of requests: those of the templates, by their `order`, and those in blocks of services.
import type { Host } from '#core';
import type {} from '../../services/contract.ts';

/** The root of libraries that several services fill. */
const COMBINED = { order: 30, path: '/mnt/debrid/combined_symlinks' };
/** The key whose text may hold several roots. The text of any other key is one path, which may have a comma in it. */
const LIST_KEY = 'symlink_backup_roots';

export function defaultRoots(host: Host): string[] {
  const templates = host.find('service.templates')?.list() ?? [];
  const blocks = host.use('config.store').blocks();
  const found = templates.flatMap(({ key, symlinkRoots = [] }) =>
    symlinkRoots.map(({ order, path, option }) => {
      const own = blocks.filter(({ configKey }) => configKey === key);
      const paths = option === undefined ? [] : own.flatMap(({ block }) => pathsOf(option, block[option]));
      return { order, paths: path === undefined ? paths : [path] };
    }),
  );
  const all = [...found, { order: COMBINED.order, paths: [COMBINED.path] }];
  return [...new Set(all.sort((a, b) => a.order - b.order).flatMap(({ paths }) => paths))];
}

/** The roots in a list, or in text with commas or new lines between them. */
export function rootsOf(value: unknown): string[] {
  return trimmed(typeof value === 'string' ? value.split(/[,\n]/) : value);
}

function pathsOf(option: string, value: unknown): string[] {
  return option === LIST_KEY ? rootsOf(value) : trimmed([value]);
}

function trimmed(roots: unknown): string[] {
  const texts = Array.isArray(roots) ? roots.map(root => (typeof root === 'string' ? root.trim() : '')) : [];
  return texts.filter(root => root !== '');
}
