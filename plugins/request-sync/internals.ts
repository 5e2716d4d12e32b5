// The managed instances of request managers that take part, with the API keys from their own files.
import type { Host, NamedBlock } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../config-files/contract.ts';
import type {} from '../services/contract.ts';
import type { Internal } from './topology.ts';

/** The family in templates: its services have the API of request managers, and keep their key in `main.apiKey`. */
const FAMILY = 'request-manager';

/** The config keys of the services of the family. */
export function familyKeys(host: Host): ReadonlySet<string> {
  const templates = host.find('service.templates')?.list() ?? [];
  return new Set(templates.filter(({ family }) => family === FAMILY).map(({ key }) => key));
}

/** The instances that take part. Reads their files at each call, because a program may change its key at any time. */
export async function readInternals(host: Host): Promise<readonly Internal[]> {
  const keys = familyKeys(host);
  const blocks = host.use('config.store').blocks();
  const taking = blocks.filter(({ configKey, block }) => keys.has(configKey) && block.enabled === true);
  const internals = await Promise.all(taking.map(block => readInternal(host, block)));
  return internals.flatMap(internal => internal ?? []);
}

async function readInternal(host: Host, named: NamedBlock): Promise<Internal | undefined> {
  const { sync_role: role, port } = named.block;
  if (role !== 'primary' && role !== 'subordinate') return undefined;
  const isPort = Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  return { name: named.key, role, port: isPort ? Number(port) : undefined, apiKey: await keyOf(host, named) };
}

/** undefined while the file is missing, cannot be read or has no key: the program creates it when it starts. */
async function keyOf(host: Host, named: NamedBlock): Promise<string | undefined> {
  const values = await host
    .find('config.files')
    ?.values(named)
    .catch(() => undefined);
  const { apiKey } = isObject(values?.main) ? values.main : {};
  return typeof apiKey === 'string' && apiKey.trim() !== '' ? apiKey.trim() : undefined;
}
