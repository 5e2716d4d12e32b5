// What the lock of a configuration directory tells those who hold none: where the host that has it answers. It is apart
// from the lock because every command asks, and the lock alone needs to run programs.
import { PrivateDirectory } from '../kit/private-directory.ts';

export const LOCK_DIRECTORY = 'supervisor';
export const LOCK_FILE = 'host.lock';
/** Of the text in it, in bytes. */
export const MAX_HOLDER_LENGTH = 400;

/**
 * The base URL of the host that last ran on the directory; undefined when none has told, or when the caller may not
 * know.
 */
export async function addressInLock(configDir: string): Promise<string | undefined> {
  const directory = await PrivateDirectory.open(configDir, [LOCK_DIRECTORY], { create: false, keepModes: true }).catch(
    // What others may write decides about no address.
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
