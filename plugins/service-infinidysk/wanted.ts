// Derives the wanted settings of InfiniDysk from the present ones; entries that users made are kept.
import { z } from 'zod';
import { deepEqual } from '#kit/deep-equal';
import type { ArrInstance } from '../service-arr/contract.ts';
import type { MountControl } from '../services/mount-control.ts';

type Texts = Readonly<Record<string, string | undefined>>;
type Changes = Readonly<Record<string, string>>;

interface Instance {
  readonly Host?: unknown;
}

/** The facts about InfiniDysk in its template. */
export const factsSchema = z.lazy(() =>
  z.object({
    categories: z.array(z.string()).default([]).describe('its own'),
    optionSince: z
      .object({ option: z.string(), release: z.string() })
      .optional()
      .describe('an option that earlier releases pass over'),
    mountSettings: z
      .object({
        directory: z.string(),
        address: z.string(),
        enabled: z.string(),
        user: z.string(),
        password: z.string(),
      })
      .optional()
      .describe('names of the settings about its mount'),
  }),
);

type Facts = z.output<typeof factsSchema>;
type MountSettings = NonNullable<Facts['mountSettings']>;

/** What InfiniDysk is linked to. */
interface Linked {
  readonly managers: readonly ArrInstance[];
  /** The category of each manager. */
  readonly slugs: readonly string[];
  /** The block of the mount; undefined when nothing mounts its files. */
  readonly mount: Readonly<Record<string, unknown>> | undefined;
  readonly control: MountControl | undefined;
}

/** The names of settings. */
export const INSTANCES = 'arr.instances';
export const CATEGORIES = 'api.categories';

const LOCAL = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1)(?::|\/|$)/;

/** The settings that follow from the links. Throws a SyntaxError when the present instances are not JSON. */
export function wantedSettings(
  present: Texts,
  { categories: own, mountSettings }: Facts,
  { managers, slugs, mount, control }: Linked,
): Changes {
  const wanted: Record<string, string> = {};
  if (managers.length > 0) {
    wanted[INSTANCES] = instances(present[INSTANCES], managers);
    wanted[CATEGORIES] = categories(present[CATEGORIES], [...own, ...slugs]);
  }
  if (mountSettings === undefined) return wanted;
  if (mount !== undefined) Object.assign(wanted, mountDirectory(present, mountSettings, mount));
  if (control !== undefined) Object.assign(wanted, remoteControl(present, mountSettings, control));
  return wanted;
}

/**
 * Sets the API keys of entries with a manager's address; all other entries and the queue rules are kept. Throws a
 * SyntaxError when `present` is not JSON.
 */
function instances(present: string | undefined, managers: readonly ArrInstance[]): string {
  const value = JSON.parse(present || '{}') as Record<string, unknown>;
  const lists = [...new Set(managers.map(({ kind }) => kind))].map(kind => {
    const list = `${kind.replace(/^./, letter => letter.toUpperCase())}Instances`;
    const own = managers.filter(manager => manager.kind === kind);
    const others = listOf(value[list]).filter(entry => !own.some(({ address }) => address === entry.Host));
    const entries = own.map(({ address, apiKey }) => ({ Host: address, ApiKey: apiKey }));
    return [list, [...others, ...entries]];
  });
  const wanted = { QueueRules: [], ...value, ...Object.fromEntries(lists) };
  return present !== undefined && deepEqual(wanted, value) ? present : JSON.stringify(wanted);
}

/** Existing categories keep their order. */
function categories(present: string | undefined, own: readonly string[]): string {
  const names = (present ?? '').split(',').map(name => name.trim());
  return [...new Set([...names.filter(name => name !== ''), ...own])].join(',');
}

/** The directory of the mount, unless one is set already. */
function mountDirectory(
  present: Texts,
  { directory }: MountSettings,
  mount: Readonly<Record<string, unknown>>,
): Changes {
  return present[directory] ? {} : { [directory]: `${mount.mount_dir}/${mount.mount_name}` };
}

/** The remote control of the mount. A user's choice to switch it off, or of one on another machine, is kept. */
function remoteControl(present: Texts, names: MountSettings, { port, user, password }: MountControl): Changes {
  const address = present[names.address] ?? '';
  if (address !== '' && !LOCAL.test(address)) return {};
  return {
    [names.address]: `http://127.0.0.1:${port}`,
    [names.enabled]: present[names.enabled] || 'true',
    ...(user === '' ? {} : { [names.user]: user, [names.password]: password }),
  };
}

function listOf(value: unknown): Instance[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
