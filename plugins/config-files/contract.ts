// What a format of configuration files is: one folder contributes one or more of them.
import type { AsyncParallelHook } from 'tapable';
import type { NamedBlock } from '#core';

export type FileObject = Record<string, unknown>;

export interface EditedText {
  readonly text: string;
  /** How many values were edited. */
  readonly changed: number;
}

/** A file as text, or values to be put into it. */
export type TextUpdate =
  | { readonly kind: 'values'; readonly values: FileObject }
  | { readonly kind: 'file'; readonly text: string };

/**
 * `merge` changes what is sent and deletes nothing; `replace` also removes what is not sent. Lists are replaced whole.
 */
export type EditMode = 'merge' | 'replace';

export interface ConfigFormat {
  /** Wire name, for example `yaml`. */
  readonly name: string;
  /** With the dot, in lower case. */
  readonly extensions: readonly string[];
  /** Narrows `extensions` by the file's name; a format that narrows comes before one that does not. */
  matches?(fileName: string): boolean;
  /** Throws a Problem 422 with line and column when the text cannot be understood. */
  parse(text: string): FileObject;
  /** Edits what differs and leaves every other byte. Throws a Problem 400 where that cannot be done safely. */
  edit(text: string, updates: FileObject, mode: EditMode): EditedText;
  /** Values as that file gives them back, where this differs from what was sent, for example text for a number. */
  readBack?(updates: FileObject, text: string): FileObject;
  /** What an update that comes as text means. Throws a Problem 400 when it is not valid. */
  readUpdate(text: string): TextUpdate;
}

/** What a file of a service must hold. */
export interface WantedFile {
  /** Text of a file that is missing; undefined: it is left missing. */
  readonly seed: string | undefined;
  /** A function is given what the file holds; nobody else writes it meanwhile. */
  readonly values: FileObject | ((present: FileObject) => FileObject);
  /** Set only where the file has nothing. */
  readonly initial: FileObject;
  /** Permission bits of a file that is made. */
  readonly mode: number;
  /** Who a file that is made belongs to; null: the host. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

export interface ServiceFileAccess {
  /** The values of a service's own file; `file`: another one than its `config_file`. Throws a Problem, 404 when there is none. */
  values(block: NamedBlock, file?: string): Promise<FileObject>;
  /** Brings one file of a service to hold what it must; everything else in it stays. Throws a Problem. */
  ensure(block: NamedBlock, file: string, wanted: WantedFile): Promise<void>;
  /** Writes a generated file of a service whole, when it differs. Throws a Problem 403 outside the service's places. */
  write(block: NamedBlock, file: string, text: string, attributes: Pick<WantedFile, 'mode' | 'owner'>): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'config.format': ConfigFormat;
  }
  interface Hooks {
    /** After a user changed the file of a service. */
    'config.file-changed': AsyncParallelHook<[NamedBlock]>;
  }
  interface Services {
    'config.files': ServiceFileAccess;
  }
}
