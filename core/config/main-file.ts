// The configuration file: what was last read of it, whether it can be used, and the one place that writes it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigObject, ConfigState } from '../contract/config.ts';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import { removeTemporaryFiles, writeFileAtomic } from '../kit/atomic-write.ts';
import { BACKUPS, keepBackup } from './backups.ts';
import { editText } from './edit.ts';
import { type ConfigEdit, merge, withEdit } from './layers.ts';
import { type ConfigFormat, type ConfigText, findConfigFile, parseConfig, readConfigText } from './load.ts';
import { type ConfigSchema, describeIssue } from './schema.ts';

const FIRST_FILE = 'stackwarden.json';
const WRITE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'no permission to write',
  EPERM: 'no permission to write',
};

export interface MainFileOptions {
  readonly configDir: string;
  readonly schema: ConfigSchema;
  readonly log: Logger;
  /** Nothing is created, copied or removed. */
  readonly readOnly: boolean;
}

export class MainFile {
  /** What the file says, or its backup where the file cannot be used. */
  value: ConfigObject = {};
  state: ConfigState = 'valid';
  /** Why the state is not `valid`. */
  reason: string | null = null;
  readonly #options: MainFileOptions;
  #path: string;
  /** As it was last read or written; null before there is a file. */
  #text: string | null = null;
  /** What stands on the disk but cannot be used: said once. */
  #refusedText: string | undefined;

  constructor(options: MainFileOptions) {
    this.#options = options;
    this.#path = path.join(options.configDir, FIRST_FILE);
  }

  get path(): string {
    return this.#path;
  }

  /** Reads the file at the start; one that is missing is created, one that cannot be used is left as it is. */
  async load(): Promise<void> {
    const { configDir, log, readOnly } = this.#options;
    let found = await findConfigFile(configDir);
    if (found === null && !readOnly) {
      await writeFile(this.#path, '{}\n', { mode: 0o600, flag: 'wx' });
      found = await readConfigText(this.#path);
    }
    if (found === null) return;
    this.#path = found.file;
    this.#text = found.text;
    const value = this.#usableValue(found);
    if (typeof value === 'string') await this.#recover(found, value);
    else this.value = value;
    if (readOnly) return;
    await removeTemporaryFiles(found.file);
    if (this.state === 'valid') await keepBackup(found, log);
  }

  /**
   * Before a write the file is read again: what others wrote meanwhile is kept, and a broken file is not touched. True:
   * there was something.
   */
  async takeOverOutsideChanges(): Promise<boolean> {
    let found: ConfigText;
    try {
      found = await readConfigText(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw new Problem(503, `${path.basename(this.#path)} cannot be read; nothing was changed`, { cause: error });
      }
      this.#text = '';
      return false;
    }
    if (found.text === this.#text && this.state === 'valid') return false;
    const value = this.#usableValue(found);
    if (typeof value === 'string') {
      throw new Problem(409, `the configuration on disk is not valid (${value}); mend it first, nothing was changed`);
    }
    this.#use(found, value);
    return true;
  }

  /** After something changed the file outside. True: there is a new value. */
  async reread(): Promise<boolean> {
    const found = await readConfigText(this.#path).catch(() => null);
    if (found === null || found.text === this.#text || found.text === this.#refusedText) return false;
    const value = this.#usableValue(found);
    if (typeof value === 'string') {
      this.#refusedText = found.text;
      this.#options.log.error(`a change of the configuration file is not used: ${value}`);
      return false;
    }
    this.#use(found, value);
    return true;
  }

  /** Makes the edits on the disk and, once it holds them, in the value. Throws a Problem 503 and changes nothing. */
  async write(edits: readonly ConfigEdit[]): Promise<void> {
    if (edits.length === 0) return;
    const format: ConfigFormat = this.#path.endsWith('.json') ? 'json' : 'yaml';
    const text = editText(this.#text ?? '', format, edits);
    if (text !== this.#text) {
      try {
        await writeFileAtomic(this.#path, text, { mode: 0o600 });
      } catch (error) {
        const { code = 'write error' } = error as NodeJS.ErrnoException;
        const reason = WRITE_FAULTS[code] ?? code;
        throw new Problem(503, `the configuration cannot be saved (${reason}); nothing was changed`, { cause: error });
      }
      this.#text = text;
    }
    this.value = edits.reduce<unknown>(withEdit, this.value) as ConfigObject;
  }

  #use({ text }: ConfigText, value: ConfigObject): void {
    this.#text = text;
    this.value = value;
    this.state = 'valid';
    this.reason = null;
  }

  /** The value, or why it cannot be used. */
  #usableValue(found: ConfigText): ConfigObject | string {
    const { schema } = this.#options;
    try {
      const value = parseConfig(found);
      const [issue] = schema.fatalIssues(merge(schema.defaults(value), value) as ConfigObject);
      return issue === undefined ? value : `${found.file}: ${describeIssue(issue)}`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** The newest backup that can be used runs in memory; without one the defaults do. */
  async #recover(found: ConfigText, reason: string): Promise<void> {
    const { log } = this.#options;
    this.reason = reason;
    for (const suffix of BACKUPS) {
      const text = await readFile(found.file + suffix, 'utf8').catch(() => null);
      const backup = text === null ? 'absent' : this.#usableValue({ ...found, text });
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
