// Changes of the configuration's form over time. Each is idempotent; its id is remembered in the configuration.
import { isDeepStrictEqual } from 'node:util';

type Values = Readonly<Record<string, unknown>>;

export interface Migration {
  readonly id: string;
  /** What to merge into the configuration, null deleting a key; undefined when there is nothing to do. */
  updates(root: Values, defaults: Defaults): Record<string, unknown> | undefined;
}

/** The block of a service as its template has it. */
type Defaults = (key: string) => Values | undefined;

const REPOSITORIES_OF_INFINIDYSK = [
  ['nzbdav-dev', 'nzbdav'],
  ['infinidysk', 'nzbdav'],
];

export const migrations: readonly Migration[] = [
  renamed('nzbdav', 'infinidysk'),
  renamed('huntarr', 'neutarr'),
  {
    id: 'infinidysk-repository',
    updates({ infinidysk }) {
      const { repo_owner: owner, repo_name: name } = (infinidysk ?? {}) as Values;
      const isFormer = REPOSITORIES_OF_INFINIDYSK.some(former => isDeepStrictEqual(former, [owner, name]));
      return isFormer ? { infinidysk: { repo_owner: 'infinidysk', repo_name: 'infinidysk' } } : undefined;
    },
  },
  {
    id: 'decypharr-mount-type',
    updates({ decypharr }) {
      const { use_embedded_rclone: embedded } = (decypharr ?? {}) as Values;
      if (typeof embedded !== 'boolean') return undefined;
      return { decypharr: { mount_type: embedded ? 'rclone' : 'external_rclone', use_embedded_rclone: null } };
    },
  },
  {
    id: 'bazarr-file',
    updates({ bazarr }, defaults) {
      const { config_file: file } = (bazarr ?? {}) as Values;
      return file === '/bazarr/config/config.yaml'
        ? { bazarr: { config_file: defaults('bazarr')?.config_file ?? file } }
        : undefined;
    },
  },
  {
    id: 'mediastorm-name',
    updates({ mediastorm }) {
      const { process_name: name } = (mediastorm ?? {}) as Values;
      return name === 'MediaStorm' || name === 'Mediastorm'
        ? { mediastorm: { process_name: 'mediastorm' } }
        : undefined;
    },
  },
];

/** A block under a former key moves; one that stands under both is left for a person to decide. */
function renamed(from: string, to: string): Migration {
  return {
    id: `${from}-to-${to}`,
    updates(root, defaults) {
      const former = root[from];
      if (typeof former !== 'object' || former === null) return undefined;
      const present = root[to] ?? {};
      const untouched = defaults(to);
      if (untouched !== undefined && !isDeepStrictEqual(present, untouched)) return undefined;
      return { [to]: former, [from]: null };
    },
  };
}
