// Which conditions of a service's kind hold for one entry, and which processes they make it need.
import type { GraphEntry, GraphSnapshot, KeyNeed } from '../dependency-graph/contract.ts';
import type { ServiceTemplate } from '../service-templates/contract.ts';

type Conditional = NonNullable<NonNullable<ServiceTemplate['relations']>['conditional']>[number];

const FORMER_INFINIDYSK = ['infinidysk', 'nzbdav'];

/** `usesDatabase`: names of the processes whose own file names a database server. */
export function needsOf(
  entry: GraphEntry,
  conditions: readonly Conditional[],
  snapshot: GraphSnapshot,
  usesDatabase: ReadonlySet<string>,
): KeyNeed[] {
  return conditions.flatMap(({ needs, when }) =>
    needs.flatMap(key => {
      const others = snapshot.entriesOf(key).filter(other => other !== entry);
      const members = membersFor(when, entry, key, others, usesDatabase);
      if (members === undefined) return [];
      const need = { dependent: entry.processName, key, members: members.map(other => other.processName) };
      // Which instance of a component belongs to which service is for more specific signals to say.
      return [snapshot.isScoped(key) ? { ...need, onlyAnnotates: true } : need];
    }),
  );
}

/** undefined: the condition does not hold. */
function membersFor(
  when: Conditional['when'],
  { enabled, config, coreRefs, processName }: GraphEntry,
  key: string,
  others: readonly GraphEntry[],
  usesDatabase: ReadonlySet<string>,
): readonly GraphEntry[] | undefined {
  const isInUse = others.some(other => other.enabled);
  const given = (holds: boolean) => (holds ? others : undefined);
  switch (when) {
    case 'always':
      return others;
    case 'dependency-enabled':
      return given(isInUse);
    case 'dependency-enabled-and-linked':
      return given(isInUse && (coreRefs.length === 0 || coreRefs.includes(key)));
    case 'dependency-uses-neutarr': {
      const users = others.filter(other => other.enabled && other.config.use_neutarr === true);
      return users.length > 0 ? users : undefined;
    }
    case 'postgres-enabled':
      return given(enabled && config.postgres_enabled === true);
    case 'postgres-enabled-or-in-file':
      return given(enabled && (config.postgres_enabled === true || usesDatabase.has(processName)));
    case 'zurg-enabled':
      return given(config.zurg_enabled === true);
    case 'decypharr-enabled':
      return given(config.decypharr_enabled === true);
    case 'infinidysk-linked': {
      const kind = String(config.key_type ?? '')
        .trim()
        .toLowerCase();
      return given(FORMER_INFINIDYSK.includes(kind) || coreRefs.includes('infinidysk'));
    }
  }
}
