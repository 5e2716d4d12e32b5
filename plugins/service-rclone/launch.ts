// Prepares a mount before its launch: writes its remote, frees the mount point, and chooses its user and its flags.
import { type Host, Problem } from '#core';
import { isObject } from '#kit/plain-object';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type {} from '../services/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { freeMountPlace } from './mount-place.ts';
import { guardMount, mountObstacle } from './mount-user.ts';
import { obscured } from './obscured.ts';
import { type Remote, remoteOf } from './remote.ts';
import type { RemoteControls } from './remote-controls.ts';

/**
 * What rclone accepts as the name of a remote in its file. Any other text could be an inline remote, whose options can
 * be commands, and could lead out of the directory of the mounts.
 */
const REMOTE_NAME = /^(?!\.{1,2}$)[\p{L}\p{N}_.+@](?:[\p{L}\p{N}_.+@ -]*[\p{L}\p{N}_.+@-])?$/u;
/** Suitable for a library that is read far more often than it changes. */
const LIBRARY_FLAGS = [
  '--vfs-cache-mode=full',
  '--buffer-size=1024M',
  '--dir-cache-time=1w',
  '--vfs-cache-max-size=5G',
  '--vfs-cache-max-age=1w',
  '--links',
  '--use-cookies',
];

/** The keys that a remote may get here. Another remote that had the name before may have left them. */
const KEYS = ['url', 'vendor', 'host', 'user', 'pass'];

export async function configureMount(host: Host, controls: RemoteControls, context: SetupContext): Promise<void> {
  const { plan, block, owner, fill, makeDirectory } = context;
  // A user's own command names its own remote, so it is left alone.
  if (plan.argv[1] !== 'mount') return;
  logToOutput(plan.argv);
  const name = nameOf(context);
  const remote = remoteOf(block, host.use('config.store'), host.find('service.templates'));
  const section = await writeRemote(host.find('config.files'), context, name, remote);
  const [place, cache] = [fill('{mount_dir}/{mount_name}'), fill('{cache_dir}')];
  await freeMountPlace(place);
  const isRoot = plan.user === null && owner !== null;
  const obstacle = isRoot ? await mountObstacle(owner, plan.env.PATH ?? '', place, cache) : null;
  if (isRoot && obstacle === null) {
    plan.user = owner;
    plan.env.HOME = plan.cwd ?? '/';
  } else if (obstacle !== null) {
    await guardMount(context, section, host.paths.configDir);
    host.log.warn(
      `${block.processName} mounts as root and without remote control, because for user ${owner?.uid} ${obstacle}`,
    );
  }
  await makeDirectory(place);
  await makeDirectory(cache);
  const { source, url } = remote;
  if (source === undefined || url === undefined) return;
  if (source.library === true) addFlags(plan.argv, LIBRARY_FLAGS);
  // Not for an rclone that runs as root: any local client of its remote control would have the rights of root.
  if (source.control === true && obstacle === null)
    addFlags(plan.argv, await controls.flagsFor(block.processName, plan.argv));
  plan.waits.urls.push(remote.user === '' ? url : { url, auth: { user: remote.user, password: remote.password } });
}

function nameOf({ block, fill }: SetupContext): string {
  const name = fill('{mount_name}');
  if (REMOTE_NAME.test(name)) return name;
  throw new Problem(
    400,
    `${block.processName} cannot start: mount_name '${name}' is no name of a remote; use letters, digits, spaces and _ . + @ -`,
  );
}

/** Writes the remote into its file, and gives the section that it has there. */
async function writeRemote(
  files: ServiceFileAccess | undefined,
  { block, owner, fill }: SetupContext,
  name: string,
  remote: Remote,
): Promise<Record<string, string>> {
  const file = fill('{config_file}');
  // A file that cannot be read is reported when it is written.
  const values = await files?.values(block, file).catch(() => undefined);
  const section = await sectionOf(remote, values?.[name]);
  // What is left of another remote would be sent to the host of this one.
  const absent = () => KEYS.filter(key => !Object.hasOwn(section, key)).map(key => [name, key]);
  await files?.ensure(block, file, { seed: '', values: { [name]: section }, initial: {}, absent, mode: 0o600, owner });
  return section;
}

async function sectionOf(
  { type, url, host, user, password }: Remote,
  present: unknown,
): Promise<Record<string, string>> {
  const known = isObject(present) ? present.pass : undefined;
  return {
    type,
    ...(url === undefined ? {} : { url, vendor: 'other' }),
    ...(host === undefined ? {} : { host }),
    ...(user === '' ? {} : { user }),
    ...(password === '' ? {} : { pass: await obscured(password, known) }),
  };
}

/** Removes `--log-file`, because the host captures the output of rclone as its log. */
function logToOutput(argv: string[]): void {
  const at = argv.findIndex(word => /^--log-file(=|$)/.test(word));
  if (at >= 0) argv.splice(at, argv[at] === '--log-file' ? 2 : 1);
}

/** Adds flags that the command does not have yet. */
function addFlags(argv: string[], flags: readonly string[]): void {
  for (const flag of flags) {
    const [name = ''] = flag.split('=');
    if (!argv.some(word => word.split('=')[0] === name)) argv.push(flag);
  }
}
