// Reads the product's templates, and a plugin's contributions, without a host.

import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Host } from '../../core/contract/host.ts';
import { Catalogue } from '../../plugins/services/catalogue.ts';
import type { ServiceTemplates } from '../../plugins/services/contract.ts';
import { readSharedOptions, readTemplates } from '../../plugins/services/template-files.ts';
import { pluginsDir } from './host.ts';

const templatesDir = fileURLToPath(new URL('../../templates', import.meta.url));
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
let loaded: Promise<ServiceTemplates> | undefined;

export function templatesOf(): Promise<ServiceTemplates> {
  loaded ??= (async () => {
    const places = { configDir: '/config', logDir: '/log' };
    const templates = await readTemplates([path.join(templatesDir, 'services')], places, quiet);
    return new Catalogue(templates, await readSharedOptions(path.join(templatesDir, 'options.json')));
  })();
  return loaded;
}

interface SetUp {
  readonly section?: object;
  readonly key?: string;
  /** Plugins whose services the plugin uses. */
  readonly needs?: readonly string[];
}

/**
 * What a plugin contributes to a point when it is set up with this section of the configuration: the value under the
 * key, or without a key the first value.
 */
export async function contributionOf<Value>(
  plugin: string,
  point: string,
  { section = {}, key: wanted, needs = [] }: SetUp = {},
): Promise<Value> {
  const definitionOf = async (name: string) =>
    (await import(pathToFileURL(path.join(pluginsDir, name, 'index.ts')).href)).default;
  const contributed = new Map<string, Value>();
  const provided = new Map<string, unknown>();
  const templates = await templatesOf();
  const host = {
    paths: { configDir: '/config' },
    contribute: (at: string, key: string, value: Value) => at === point && contributed.set(key, value),
    contributions: () => new Map(),
    point: () => new Map(),
    provide: (name: string, service: unknown) => void provided.set(name, service),
    find: (service: string) => (service === 'service.templates' ? templates : undefined),
    use: (service: string) =>
      service === 'service.templates'
        ? templates
        : (provided.get(service) ?? { findBlock: () => undefined, get: () => ({}) }),
    tap: () => undefined,
  };
  for (const name of needs) await (await definitionOf(name)).setup(host as unknown as Host, {});
  await (await definitionOf(plugin)).setup(host as unknown as Host, section);
  const found = wanted === undefined ? [...contributed.values()][0] : contributed.get(wanted);
  if (found === undefined) throw new Error(`${plugin} contributes no ${wanted ?? ''} to ${point}`);
  return found;
}
