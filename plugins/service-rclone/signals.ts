// Signals that a mount needs the service whose files it shows, one for each kind of service that serves files.
import type { GraphEntry, GraphSnapshot, SignalSource } from '../dependency-graph/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

type Source = ServiceTemplate & { readonly serves: NonNullable<ServiceTemplate['serves']> };

/** `mountKey` is the config key of the service that mounts. */
export function providerSignals(mountKey: string, templates: readonly ServiceTemplate[]): SignalSource[] {
  const sources = templates.filter((template): template is Source => template.serves !== undefined);
  return sources.map(source => ({
    signal: `${mountKey}_provider_${source.serves.signal}`,
    classification: 'hard',
    strength: 'hard_runtime',
    description: `${source.serves.what} an ${mountKey} instance mounts`,
    find: snapshot => ({
      relations: snapshot
        .entriesOf(mountKey)
        .filter(mount => isChosenBy(mount, source))
        .flatMap(mount =>
          providersOf(mount, source, snapshot).map(({ processName }) => ({
            dependency: processName,
            dependent: mount.processName,
          })),
        ),
    }),
  }));
}

/** Whether the mount shows files of the source. If the source has a switch, only the switch decides. */
function isChosenBy({ config }: GraphEntry, { key, aliases = [], serves }: Source): boolean {
  if (serves.switch !== undefined) return config[serves.switch] === true;
  return serves.byKind === true && [key, ...aliases].includes(norm(config.key_type));
}

/**
 * The instances of the source that the mount needs: the one whose file the mount names, otherwise those of the same
 * core service, otherwise of the same provider, otherwise all.
 */
function providersOf(
  mount: GraphEntry,
  { key, instance, serves }: Source,
  snapshot: GraphSnapshot,
): readonly GraphEntry[] {
  const all = snapshot.entriesOf(key);
  if (instance === undefined) return all;
  const { key_type: kind } = mount.config;
  const file = serves.file === undefined ? undefined : mount.config[serves.file];
  const byFile = all.filter(({ config }) => typeof file === 'string' && file !== '' && config.config_file === file);
  // When several instances have the default file name, it does not identify one of them.
  if (byFile.length === 1) return byFile;
  const byCore = all.filter(({ coreRefs }) => coreRefs.some(core => mount.coreRefs.includes(core)));
  if (byCore.length > 0) return byCore;
  const byKind = all.filter(({ config }) => kind !== undefined && norm(config.key_type) === norm(kind));
  if (byKind.length > 0) return byKind;
  return mount.coreRefs.length === 0 ? all : [];
}

function norm(value: unknown): string {
  return String(value ?? '')
    .trim()
    .toLowerCase();
}
