// Finds the web interfaces of enabled services and gives each its route name.
import type { NamedBlock } from '#core';
import { clientHost } from '#kit/client-host';
import { isObject } from '#kit/plain-object';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import type { ServiceUi } from './contract.ts';

const MEDIA_FOLDERS = [
  'assets',
  'bower_components',
  'components',
  'css',
  'images',
  'libraries',
  'modules',
  'scripts',
  'strings',
  'themes',
];

const HOST = /^[A-Za-z0-9][A-Za-z0-9.-]*$|^[0-9a-fA-F:]+$/;

export function listUis(blocks: readonly NamedBlock[], templates: ServiceTemplates | undefined): ServiceUi[] {
  const taken = new Set<string>();
  return blocks.flatMap(block => {
    if (block.block.enabled !== true) return [];
    const ui = uiOf(block, templates?.get(block.configKey));
    if (ui === undefined) return [];
    const name = unique(ui.name, taken);
    taken.add(name);
    return [{ ...ui, name }];
  });
}

function uiOf(named: NamedBlock, template: ServiceTemplate | undefined): ServiceUi | undefined {
  const { block, processName, configKey } = named;
  const known = template === undefined ? ownUi(block) : template.ui;
  if (known === undefined) return undefined;
  const port = Number(block[known.portKey ?? 'port']) + (known.portOffset ?? 0);
  const host = hostOf(block.host);
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || host === undefined) return undefined;
  const publicUrl = known.publicUrlKey === undefined ? undefined : block[known.publicUrlKey];
  return {
    name: routeName(named, template),
    processName,
    kind: known.kind ?? configKey,
    configKey,
    isHost: named.isHost,
    host,
    port,
    entryPath: known.entryPath ?? '',
    pathPrefix: known.pathPrefix,
    foldersBelowPrefix: known.pathPrefix === undefined ? [] : MEDIA_FOLDERS,
    frameable: known.frameable !== false,
    publicUrl: typeof publicUrl === 'string' && publicUrl !== '' ? publicUrl : undefined,
    internalTarget: known.internalTarget,
    asksBelowRoot: known.asksBelowRoot === true,
  };
}

/** The interface of a service without a template: only what its block says. */
function ownUi({ ui }: NamedBlock['block']): ServiceTemplate['ui'] {
  if (ui === true) return {};
  if (!isObject(ui)) return undefined;
  const { port_key: portKey, path } = ui;
  return {
    ...(typeof portKey === 'string' ? { portKey } : {}),
    ...(typeof path === 'string' && path !== '/' ? { entryPath: path } : {}),
  };
}

function hostOf(value: unknown): string | undefined {
  const host = clientHost(value);
  return HOST.test(host) ? host : undefined;
}

/**
 * The config key for a service without instances; otherwise the process name, after the config key if it lacks that.
 */
function routeName({ configKey, path, processName }: NamedBlock, template: ServiceTemplate | undefined): string {
  if (template?.ui?.route !== undefined) return template.ui.route;
  if (!path.includes('instances')) return sanitize(configKey);
  const name = sanitize(processName);
  return name.includes(configKey) ? name : `${configKey}_${name}`;
}

function sanitize(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9_.-]/g, '_');
}

function unique(name: string, taken: ReadonlySet<string>): string {
  for (let count = 2, candidate = name; ; count += 1) {
    if (!taken.has(candidate)) return candidate;
    candidate = `${name}_${count}`;
  }
}
