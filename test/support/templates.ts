// Reads the product's templates, and a plugin's contributions, without a host.

import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Host } from '../../core/contract/host.ts';
import { Catalogue } from '../../plugins/service-templates/catalogue.ts';
import type { ServiceTemplates } from '../../plugins/service-templates/contract.ts';
import { readSharedOptions, readTemplates } from '../../plugins/service-templates/template-files.ts';
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

/** The first contribution of a plugin to a point when it is set up with the given section of the configuration. */
export async function contributionOf<Value>(plugin: string, point: string, section: object = {}): Promise<Value> {
  const { default: definition } = await import(pathToFileURL(path.join(pluginsDir, plugin, 'index.ts')).href);
  const contributed: Value[] = [];
  const templates = await templatesOf();
  const host = {
    contribute: (at: string, _key: string, value: Value) => at === point && contributed.push(value),
    find: (service: string) => (service === 'service.templates' ? templates : undefined),
    use: () => ({ findBlock: () => undefined }),
    tap: () => undefined,
  };
  await definition.setup(host as unknown as Host, section);
  const [first] = contributed;
  if (first === undefined) throw new Error(`${plugin} contributes nothing to ${point}`);
  return first;
}
