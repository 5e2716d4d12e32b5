// What the settings of InfiniDysk must hold, from what they hold now: entries that are somebody's own stay.
import { deepEqual } from '#kit/deep-equal';
import type { ArrInstance } from '../arr/contract.ts';
import type { RemoteControl } from '../setup-rclone/contract.ts';

type Texts = Readonly<Record<string, string | undefined>>;
type Changes = Readonly<Record<string, string>>;

interface Instance {
  readonly Host?: unknown;
}

const LISTS: Readonly<Record<string, string>> = {
  radarr: 'RadarrInstances',
  sonarr: 'SonarrInstances',
  lidarr: 'LidarrInstances',
  whisparr: 'WhisparrInstances',
};
const LOCAL = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1)(?::|\/|$)/;
const CATEGORIES = ['movies', 'tv', 'music', 'whisparr'];

/** An entry of the same address gets the present key; all others, and the rules of the queue, stay. Throws on other text. */
export function instances(present: string | undefined, managers: readonly ArrInstance[]): string {
  const value = JSON.parse(present || '{}') as Record<string, unknown>;
  const lists = Object.entries(LISTS).flatMap(([kind, list]) => {
    const own = managers.filter(manager => manager.kind === kind);
    const others = listOf(value[list]).filter(entry => !own.some(({ address }) => address === entry.Host));
    const entries = own.map(({ address, apiKey }) => ({ Host: address, ApiKey: apiKey }));
    return own.length === 0 ? [] : [[list, [...others, ...entries]]];
  });
  const wanted = { QueueRules: [], ...value, ...Object.fromEntries(lists) };
  return present !== undefined && deepEqual(wanted, value) ? present : JSON.stringify(wanted);
}

/** Those that are there stay in their order. */
export function categories(present: string | undefined, slugs: readonly string[]): string {
  const names = (present ?? '').split(',').map(name => name.trim());
  return [...new Set([...names.filter(name => name !== ''), ...CATEGORIES, ...slugs])].join(',');
}

/** A place that somebody has chosen stays. */
export function mountDirectory(present: Texts, mount: Readonly<Record<string, unknown>>): Changes {
  return present['rclone.mount-dir'] ? {} : { 'rclone.mount-dir': `${mount.mount_dir}/${mount.mount_name}` };
}

/** Whether it is used stays a choice; an rclone of another machine is somebody's own. */
export function remoteControl(present: Texts, { port, user, password }: RemoteControl): Changes {
  const host = present['rclone.host'] ?? '';
  if (host !== '' && !LOCAL.test(host)) return {};
  return {
    'rclone.host': `http://127.0.0.1:${port}`,
    'rclone.rc-enabled': present['rclone.rc-enabled'] || 'true',
    ...(user === '' ? {} : { 'rclone.user': user, 'rclone.pass': password }),
  };
}

function listOf(value: unknown): Instance[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : [];
}
