// The configuration file: its last read content, whether that can be used, and the only code that writes it.
import path from 'node:path';
import type { ConfigObject, ConfigState } from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import { requireAnswer } from '../kit/answering.ts';
import { removeTemporaryFiles, UnsyncedProblem, writeFileAtomic } from '../kit/atomic-write.ts';
import { reasonText } from '../kit/error-text.ts';
import { BACKUPS, keepBackup, NEWEST } from './backups.ts';
import { editTextAside } from './edit.ts';
import { FILE_NAMES } from './file-names.ts';
import type { ConfigEdit } from './layers.ts';
import {
  type ConfigText,
  findConfigFile,
  findUnreadFiles,
  formatOf,
  MAX_CHARACTERS,
  parseConfig,
  parseConfigAside,
  readConfigText,
  requireUtf8,
} from './load.ts';
import { readRegular } from './regular-file.ts';

const [FIRST_FILE = ''] = FILE_NAMES;
/** What is written for a configuration without members. */
const EMPTY = '{}\n';
const WRITE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full, or has no inode left',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'no permission to write',
};

export interface MainFileOptions {
  readonly configDir: string;
  readonly log: Logger;
  /** Whether no file may be created, copied or removed. */
  readonly readOnly: boolean;
}

class OutdatedProblem extends Problem {
  constructor(file: string) {
    super(409, `${file} was changed by somebody else meanwhile, and nothing was saved; send the change again`);
  }
}

export class MainFile {
  /** The content of the file, or of its newest usable backup when the file cannot be used. */
  value: ConfigObject = {};
  state: ConfigState = 'valid';
  /** Explains a state other than `valid`. */
  reason: string | null = null;
  readonly #options: MainFileOptions;
  #path: string;
  /** The text as last read or written; null while there is no file. */
  #text: string | null = null;
  /** Whether others have removed the file since it was last read or written. */
  #isGone = false;
  /** Names of files beside this one that would be read if it were not there. */
  #unread: readonly string[] = [];
  /** The text that was refused last, while the file holds it, so that the same text is reported only once. */
  #refused: { readonly text: string; readonly reason: string } | undefined;
  /** The copy of what was read at the start. The start does not wait for it, because a disk takes long to sync. */
  #backup: Promise<void> = Promise.resolve();
  /** Why the file could not be read at the last look; reported once for as long as it stays the same. */
  #toldFault: string | undefined;

  constructor(options: MainFileOptions) {
    this.#options = options;
    this.#path = path.join(options.configDir, FIRST_FILE);
  }

  get path(): string {
    return this.#path;
  }

  /** Why the file as it is now is not in use, while its former content is; null otherwise. */
  get unusedReason(): string | null {
    return this.state === 'valid' ? (this.#toldFault ?? this.#refused?.reason ?? null) : null;
  }

  /** Whether the file could not be read at the last look, and must be looked at again even if it stays the same. */
  get isUnread(): boolean {
    return this.#toldFault !== undefined;
  }

  /** What is wrong with the file itself, one line each. */
  problems(): readonly string[] {
    const name = path.basename(this.#path);
    const unread = this.#unread.map(
      other => `${other} is not read, because ${name} lies beside it; remove one of them`,
    );
    return this.reason === null ? unread : [this.reason, ...unread];
  }

  /** Reads the file at the start. A missing file is created; one that cannot be used is left unchanged. */
  async load(): Promise<void> {
    const { configDir, log, readOnly } = this.#options;
    let found = await findConfigFile(configDir);
    if (found === null && !readOnly) {
      const how = { mode: 0o600, durable: false, verify: () => this.#requireUnchanged() };
      await writeFileAtomic(this.#path, EMPTY, how);
      found = await readConfigText(this.#path);
    }
    if (found === null) return;
    this.#unread = await findUnreadFiles(found.file);
    this.#path = found.file;
    this.#text = found.text;
    const value = await this.#usableValue(found, parseHere);
    if (typeof value === 'string') await this.#recover(found, value);
    else this.value = value;
    if (readOnly) return;
    await removeTemporaryFiles(found.file);
    if (this.state !== 'valid') return;
    this.#backup = keepBackup(found.file, found.text).catch((error: unknown) => {
      if (error instanceof UnsyncedProblem) log.warn(error.message);
      else log.warn(`no backup of ${found.file} could be made`, error);
    });
  }

  /** Resolves when the copy of what was read at the start is made. */
  onIdle(): Promise<void> {
    return this.#backup;
  }

  /**
   * Rereads the file before a write, so that changes made by others are kept and a broken file stays unchanged. True
   * when there was a change.
   */
  async takeOverOutsideChanges(): Promise<boolean> {
    let found: ConfigText;
    let value: ConfigObject | string;
    try {
      found = await this.#read();
      this.#isGone = false;
      if (found.text === this.#text && this.state === 'valid') return false;
      value = await this.#usableValue(found);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        const reason = reasonText(error);
        throw new Problem(503, `the configuration cannot be read (${reason}); nothing was changed`, { cause: error });
      }
      this.#isGone = true;
      return false;
    }
    if (typeof value === 'string') {
      throw new Problem(409, `the configuration on disk is not valid (${value}); mend it first, nothing was changed`);
    }
    this.#use(found, value);
    return true;
  }

  /**
   * Reads the file after it was changed from outside, or, with `isAsked`, on request. True when there is a new value.
   */
  async reread(how: { readonly isAsked: boolean }): Promise<boolean> {
    try {
      const isNew = await this.#reread(how);
      this.#toldFault = undefined;
      return isNew;
    } catch (error) {
      this.#tellFault(reasonText(error), how);
      return false;
    }
  }

  async #reread({ isAsked }: { readonly isAsked: boolean }): Promise<boolean> {
    const found = await this.#read().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (found === undefined) {
      this.#refused = undefined;
      // Not told unasked, because editors that replace the file take it away for a moment.
      if (isAsked)
        this.#options.log.warn(
          `${this.#path} is not there; the configuration stays as it is, and the next save writes the file again whole`,
        );
      return false;
    }
    const isSame = found.text === this.#text;
    if (isSame && this.state === 'valid') {
      if (this.#refused !== undefined)
        this.#options.log.info('the configuration file is as it was before, and is used');
      this.#refused = undefined;
      return false;
    }
    if (!isAsked && (isSame || found.text === this.#refused?.text)) return false;
    const value = await this.#usableValue(found);
    if (typeof value === 'string') {
      this.#refused = { text: found.text, reason: value };
      this.#tellRefusal(value);
      return false;
    }
    this.#use(found, value);
    return true;
  }

  /** Reports a file that cannot be read: once for as long as the fault stays the same, and on request. */
  #tellFault(fault: string, { isAsked }: { readonly isAsked: boolean }): void {
    if (isAsked || fault !== this.#toldFault)
      this.#options.log.error(`the configuration file cannot be read any more, and nothing is saved: ${fault}`);
    this.#toldFault = fault;
  }

  /**
   * Makes the edits on disk and, once they are stored, takes over the value that they make of the present one. A file
   * that vanished is written in any case; the returned warnings tell of that, of a layout that could not be kept, and of
   * a disk that may lose what is written. Throws a Problem 503 when writing fails; nothing is changed then.
   */
  async write(edits: readonly ConfigEdit[], value: ConfigObject): Promise<string[]> {
    const isGone = this.#isGone;
    if (edits.length === 0 && !isGone) return [];
    const before = this.state === 'valid' ? (this.#text ?? '') : await this.#textOfValue();
    const edited = await editTextAside(before, formatOf(this.#path), edits);
    const { isLaidOutAnew } = edited;
    // YAML without members is an empty text, which the next start would refuse.
    const text = edited.text || EMPTY;
    if (text.length > MAX_CHARACTERS) {
      throw new Problem(
        413,
        `the configuration would have more than ${MAX_CHARACTERS} characters; nothing was changed`,
      );
    }
    const warnings: string[] = [];
    if (text !== this.#text || isGone) {
      warnings.push(...(await this.#store(text, isLaidOutAnew ? before : undefined)));
      this.#text = text;
      this.#isGone = false;
      // One that could not be used was removed before.
      this.#accept();
    }
    this.value = value;
    if (isGone) warnings.push(`${this.#path} had vanished; it was written again whole, as it was last known`);
    if (isLaidOutAnew)
      warnings.push(
        `${this.#path} was laid out anew, because this change could not be made within its lines; ` +
          `what it was before is in ${path.basename(this.#path)}${NEWEST}`,
      );
    for (const warning of warnings) this.#options.log.warn(warning);
    return warnings;
  }

  /** Replaces the file, and keeps the text `before` as a backup if it is given. Returns warnings. */
  async #store(text: string, before: string | undefined): Promise<string[]> {
    const warnings: string[] = [];
    const warnUnsynced = (error: unknown): void => {
      if (!(error instanceof UnsyncedProblem)) throw error;
      warnings.push(error.message);
    };
    try {
      await this.#backup;
      if (before !== undefined) await keepBackup(this.#path, before).catch(warnUnsynced);
      const how = { mode: 0o600, verify: () => this.#requireUnchanged() };
      await writeFileAtomic(this.#path, text, how).catch(warnUnsynced);
      return warnings;
    } catch (error) {
      if (error instanceof OutdatedProblem) throw error;
      const reason = WRITE_FAULTS[(error as NodeJS.ErrnoException).code ?? ''] ?? reasonText(error);
      throw new Problem(503, `${this.#path} cannot be saved (${reason}); nothing was changed`, { cause: error });
    }
  }

  /** Reads the file while clients are served. Throws a Problem 503 for a mount that does not answer. */
  async #read(): Promise<ConfigText> {
    await requireAnswer([this.#path]);
    return readConfigText(this.#path);
  }

  /**
   * Refuses to replace a file that was saved from outside while the change was checked, because that would be lost.
   */
  async #requireUnchanged(): Promise<void> {
    const found = await this.#read().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (found !== undefined && (this.#isGone || found.text !== this.#text)) throw new OutdatedProblem(this.#path);
  }

  /** A text of the value in memory, for the place of a file that could not be used and was removed. */
  async #textOfValue(): Promise<string> {
    const edits = Object.entries(this.value).map(([key, value]) => ({ path: [key], value }));
    return (await editTextAside('', formatOf(this.#path), edits)).text;
  }

  /** The file is in use. */
  #accept(): void {
    this.state = 'valid';
    this.reason = null;
    this.#refused = undefined;
    this.#toldFault = undefined;
  }

  #tellRefusal(reason: string): void {
    const { log } = this.#options;
    if (this.state === 'valid') {
      log.error(
        `a change of the configuration file is not used: ${reason}; what it held before counts until it is mended`,
      );
      return;
    }
    this.reason = reason;
    log.error(`the configuration file still cannot be used: ${reason}; mend it`);
  }

  #use({ text }: ConfigText, value: ConfigObject): void {
    this.#text = text;
    this.value = value;
    this.#accept();
  }

  /**
   * The parsed value, or the reason why it cannot be used. Throws a Problem 503 when the thread for texts has no turn,
   * or ends, because that says nothing about the file.
   */
  async #usableValue(found: ConfigText, parse = parseConfigAside): Promise<ConfigObject | string> {
    try {
      requireUtf8(found);
      return await parse(found);
    } catch (error) {
      if (error instanceof Problem && error.status === 503) throw error;
      return (error as Error).message;
    }
  }

  /** Takes the newest usable backup into memory, or the defaults when there is none. */
  async #recover(found: ConfigText, reason: string): Promise<void> {
    const { log } = this.#options;
    this.reason = reason;
    for (const suffix of BACKUPS) {
      const bytes = await readRegular(found.file + suffix).catch(() => null);
      const text = bytes?.toString('utf8');
      const backup =
        text === undefined ? 'absent' : await this.#usableValue({ ...found, text, isUtf8: true }, parseHere);
      if (typeof backup === 'string') continue;
      const name = `${path.basename(found.file)}${suffix}`;
      log.error(`${reason}; running with ${name}, and nothing is saved until it is mended`);
      this.value = backup;
      this.state = 'recovered';
      return;
    }
    log.error(`${reason}; no managed process is started until it is mended`);
    this.value = {};
    this.state = 'safe';
  }
}

/** For the start: no client is served yet, and another thread would take its time to start. */
async function parseHere({ text, file, format }: Omit<ConfigText, 'isUtf8'>): Promise<ConfigObject> {
  return parseConfig(text, file, format);
}
