// Evaluates the conditional dependencies of a service, and finds the processes that it needs by them.
import type { GraphEntry, GraphSnapshot, KeyNeed } from '../dependency-graph/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';

type Conditional = NonNullable<NonNullable<ServiceTemplate['relations']>['conditional']>[number];

/**
 * `inFile` has the names of processes whose own file says that they need another service. `namesOf` returns the names
 * of a kind of service, in lower case.
 */
export function needsOf(
  entry: GraphEntry,
  conditions: readonly Conditional[],
  snapshot: GraphSnapshot,
  inFile: ReadonlySet<string>,
  namesOf: (key: string) => readonly string[],
): KeyNeed[] {
  return conditions.flatMap(({ needs, when }) =>
    needs.flatMap(key => {
      const others = snapshot.entriesOf(key).filter(other => other !== entry);
      const members = membersFor(when, entry, { key, others, inFile, names: namesOf(key) });
      if (members === undefined) return [];
      const need = { dependent: entry.processName, key, members: members.map(other => other.processName) };
      // For components with an instance per core service, more specific signals find the instance.
      return [snapshot.isScoped(key) ? { ...need, onlyAnnotates: true } : need];
    }),
  );
}

interface Needed {
  readonly key: string;
  readonly names: readonly string[];
  /** Entries with the needed key. */
  readonly others: readonly GraphEntry[];
  readonly inFile: ReadonlySet<string>;
}

/** undefined when the condition does not hold. */
function membersFor(
  when: Conditional['when'],
  { enabled, config, coreRefs, processName }: GraphEntry,
  { key, names, others, inFile }: Needed,
): readonly GraphEntry[] | undefined {
  const isInUse = others.some(other => other.enabled);
  const given = (holds: boolean) => (holds ? others : undefined);
  if (when === 'always') return others;
  if (when === 'dependency-enabled') return given(isInUse);
  if (when === 'dependency-enabled-and-linked')
    return given(isInUse && (coreRefs.length === 0 || coreRefs.includes(key)));
  if ('dependencyOption' in when) {
    const users = others.filter(other => other.enabled && other.config[when.dependencyOption] === true);
    return users.length > 0 ? users : undefined;
  }
  if ('namedBy' in when) {
    const named = String(config[when.namedBy] ?? '')
      .trim()
      .toLowerCase();
    return given(names.includes(named) || coreRefs.includes(key));
  }
  const isSaid = config[when.option] === true || (when.inFile !== undefined && inFile.has(processName));
  return given(isSaid && (enabled || when.whileEnabled !== true));
}
