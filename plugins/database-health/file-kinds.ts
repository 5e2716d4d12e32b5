// The probes for databases that are files or directories: SQLite, which can be opened, and formats that only their own
// program can read.
import type { NamedBlock } from '#core';
import type { DatabaseProbe, DatabaseStore, ProbeMode } from './contract.ts';
import type { FileLook, FileUser } from './look.ts';
import type { LookKind, StoreToLook } from './look-worker.ts';

const PASSIVE = 'It is only looked at from outside';

/** The probes, by the engine that templates name. `userOf` gives the user with whose rights files are read. */
export function fileKinds(
  look: FileLook,
  userOf: (service: NamedBlock) => FileUser,
): Readonly<Record<string, DatabaseProbe>> {
  const kind = (
    engine: string,
    provider: string,
    kindIn: (mode: ProbeMode, store: DatabaseStore) => LookKind,
    blindIn?: readonly ProbeMode[],
  ): DatabaseProbe => ({
    provider,
    ...(blindIn === undefined ? {} : { blindIn }),
    async probe({ service, stores, mode }) {
      const wanted = stores.map(store => toLook(store, kindIn(mode, store)));
      const facts = await look.stores(`${engine} of ${service.processName}`, wanted, userOf(service));
      const passive = new Set(stores.filter(store => store.passive === true).map(({ role }) => role));
      if (mode === 'standard' || engine !== 'sqlite') return facts;
      return facts.map(fact => (passive.has(fact.role) ? { ...fact, notice: PASSIVE } : fact));
    },
  });
  const always: readonly ProbeMode[] = ['standard', 'enhanced'];
  return {
    sqlite: kind('sqlite', 'sqlite', (mode, { passive }) => (mode === 'enhanced' && !passive ? 'sqlite' : 'file')),
    'append-log': kind('append-log', 'append-log', () => 'file', always),
    hyperbee: kind('hyperbee', 'hyperbee', () => 'directory', always),
    files: kind('files', 'files', () => 'directory', always),
  };
}

function toLook({ role, files = [], below }: DatabaseStore, kind: LookKind): StoreToLook {
  return { role, kind, files, below: below ?? null };
}
