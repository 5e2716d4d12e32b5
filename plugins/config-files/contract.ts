// The contract of the services' own configuration files: formats, which plugins contribute, and access to the files.
import type { AsyncParallelHook } from 'tapable';
import type { NamedBlock } from '#core';

/** The values of a file. Their types are those of the file's format, for example texts only in INI files. */
export type FileObject = Record<string, unknown>;

export interface EditedText {
  readonly text: string;
  /** How many values were edited. */
  readonly changed: number;
}

/** An update that was sent as text: the values to set, or the text of the whole new file. */
export type TextUpdate =
  | { readonly kind: 'values'; readonly values: FileObject }
  | { readonly kind: 'file'; readonly text: string };

/** `merge` deletes nothing; `replace` also deletes the members that the update lacks. Both replace lists as a whole. */
export type EditMode = 'merge' | 'replace';

/**
 * One format of configuration files of services, which reads them and changes them in place. It is called at each
 * access to such a file. Its functions may hold the event loop for small texts only: `#kit/text-thread` reads large
 * ones in a thread.
 */
export interface ConfigFormat {
  /** Wire name, for example `yaml`. */
  readonly name: string;
  /** Extensions with their dot, in lower case, for example `.yaml`. */
  readonly extensions: readonly string[];
  /** Narrows `extensions` by the file's name. A format that narrows is chosen before one that does not. */
  matches?(fileName: string): boolean;
  /** Returns the values of a file. Throws a Problem 422 with line and column when the text is not valid. */
  parse(text: string): FileObject | Promise<FileObject>;
  /** Edits the values that differ and keeps every other byte. Throws a Problem 400 where that cannot be done safely. */
  edit(text: string, updates: FileObject, mode: EditMode): EditedText | Promise<EditedText>;
  /**
   * The updates as `parse` will return them after the edit. Needed where the two differ, for example when the format
   * returns the number that was sent as text.
   */
  readBack?(updates: FileObject, text: string): FileObject | Promise<FileObject>;
  /** Interprets an update that was sent as text. Throws a Problem 400 when it is not valid. */
  readUpdate(text: string): TextUpdate | Promise<TextUpdate>;
}

/** What a plugin wants a file of a service to hold. */
export interface WantedFile {
  /** Text with which a missing file is created; undefined leaves it missing. */
  readonly seed: string | undefined;
  /** Values that the file must have. A function computes them from the present ones while no other update can run. */
  readonly values: FileObject | ((present: FileObject) => FileObject);
  /** Values that are set only where the file has none. */
  readonly initial: FileObject;
  /** Paths of members that the file must not have, computed from the present values; none of them is in `values`. */
  readonly absent?: (present: FileObject) => readonly (readonly string[])[];
  /** Permission bits of a file that is created; an existing file keeps its own. */
  readonly mode: number;
  /** Owner of a file that is created; null leaves it to the host's user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** The configuration file of a service: read, and brought in line before its start. */
export interface ServiceFileAccess {
  /**
   * The values of the service's `config_file`, or of another `file` of the service. Throws a Problem: 404 when the file
   * does not exist, 403 outside the service's directories, 400 or 422 when it cannot be parsed, 503 on a dead mount.
   */
  values(block: NamedBlock, file?: string): Promise<FileObject>;
  /**
   * Sets the wanted values in a file of the service and keeps everything else in it. Throws the Problems of `values`.
   */
  ensure(block: NamedBlock, file: string, wanted: WantedFile): Promise<void>;
  /** Writes a generated file whole if its text differs. Throws a Problem 403 outside the service's directories. */
  write(block: NamedBlock, file: string, text: string, attributes: Pick<WantedFile, 'mode' | 'owner'>): Promise<void>;
}

/** The values of a file before and after a change; undefined where they could not be read. */
export interface FileChange {
  readonly before: FileObject | undefined;
  readonly after: FileObject | undefined;
}

declare module '#core' {
  interface Contributions {
    'config.format': ConfigFormat;
  }
  interface Hooks {
    /** Runs after a user has changed the configuration file of the service that the block names. */
    'config.file-changed': AsyncParallelHook<[NamedBlock, FileChange]>;
  }
  interface Services {
    'config.files': ServiceFileAccess;
  }
}
