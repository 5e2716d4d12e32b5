// The text of a caught value: anything can be thrown, and describing it must never throw in turn.
import { sourceStack } from './source-stack.ts';

const WITHOUT_TEXT = 'an error without a text';

/**
 * The message of an Error, else the value as text. An error of the system says where it happened, and what, in words.
 */
export function errorText(error: unknown): string {
  try {
    const fault = systemFault(error);
    if (fault === undefined) return String(error instanceof Error ? error.message : error);
    return fault.place === undefined ? fault.words : `${fault.place}: ${fault.words}`;
  } catch {
    return WITHOUT_TEXT;
  }
}

/** Same as `errorText` without the place, for a sentence that names it already. */
export function reasonText(error: unknown): string {
  return systemFault(error)?.words ?? errorText(error);
}

/** The stack of an Error by the places of the sources, blank where it has none that can be read. */
export function errorStack(error: Error): string {
  return sourceStack(plainStack(error));
}

/** The stack of an Error by the files that ran. */
export function plainStack(error: Error): string {
  try {
    return String(error.stack ?? '');
  } catch {
    return '';
  }
}

interface Fault {
  readonly words: string;
  readonly place: string | undefined;
}

/** ENOSPC stands for missing blocks and for missing inodes, but the system's text names the blocks alone. */
const NO_ROOM = 'no space left on device';

/** EPERM, which root gets too when the file or its directory has an attribute such as immutable. */
const FORBIDDEN = 'operation not permitted';
const CHANGING_NAMES = new Set(['open', 'rename', 'mkdir', 'unlink', 'rm']);
/** Root may be without the right to these, as in a container that dropped it. */
const GIVING_AWAY = new Set(['chown', 'fchown', 'lchown']);

/** EFBIG, which does not say whose limit it is. */
const TOO_LARGE = 'file too large';

/** The message of a file error. It is taken apart, because a thread may have passed on the message alone. */
const FILE_FAULT = /^E[A-Z0-9]+: ([^,]+), (\w+)(?: '([^']+)'(?: -> '[^']+')?)?$/;

/** What the system says about a system error; undefined for any other value. */
function systemFault(error: unknown): Fault | undefined {
  try {
    const { message, code, errno, address, port, hostname, path } = error as NodeJS.ErrnoException & {
      readonly address?: string;
      readonly port?: number;
      readonly hostname?: string;
    };
    const [, words, call = '', place] = FILE_FAULT.exec(message) ?? [];
    if (words !== undefined) return { words: wholeWords(words, call), place };
    // An error whose message lacks its code was given a message that says more.
    if (code === undefined || errno === undefined || !message.includes(code)) return undefined;
    const known = process.getBuiltinModule('node:util').getSystemErrorMap().get(errno)?.[1];
    if (known === undefined) return undefined;
    const peer = address === undefined || port === undefined ? (address ?? hostname) : `${address}:${port}`;
    return { words: wholeWords(known, ''), place: path ?? peer };
  } catch {
    return undefined;
  }
}

function wholeWords(words: string, call: string): string {
  if (words === FORBIDDEN && CHANGING_NAMES.has(call))
    return `${FORBIDDEN}, as for an immutable file or directory, which lsattr shows and chattr -i ends`;
  if (words === FORBIDDEN && GIVING_AWAY.has(call)) return `${FORBIDDEN}, as without the capability CAP_CHOWN`;
  if (words === TOO_LARGE) return `${TOO_LARGE}, for the limit of file sizes (ulimit -f) or for the file system`;
  return words === NO_ROOM ? `${NO_ROOM}, or no inode` : words;
}
