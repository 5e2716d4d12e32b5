// Reads the address of the running host from the lock file of a configuration directory. It is apart from
// instance-lock.ts because every command needs it, and none needs the code that takes the lock.
import { PrivateDirectory } from '../kit/private-directory.ts';

export const LOCK_DIRECTORY = 'supervisor';
export const LOCK_FILE = 'host.lock';
/** Limit of the text in the lock file, in bytes. */
export const MAX_HOLDER_LENGTH = 400;

/**
 * The base URL of the host that last ran on the directory; undefined when no host has written it, or when the caller
 * may not read it.
 */
export async function addressInLock(configDir: string): Promise<string | undefined> {
  const directory = await PrivateDirectory.open(configDir, [LOCK_DIRECTORY], { create: false, keepModes: true }).catch(
    // A directory that other users may write to must not decide about the address.
    () => null,
  );
  if (directory === null) return undefined;
  try {
    const [, address = ''] = (await directory.readHead(LOCK_FILE, MAX_HOLDER_LENGTH)).toString('utf8').split('\n');
    return URL.canParse(address) ? address : undefined;
  } catch {
    return undefined;
  } finally {
    await directory.close();
  }
}
