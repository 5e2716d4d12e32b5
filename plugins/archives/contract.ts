// What the plugin offers to those that install programs: archives unpacked out of process, and only when nothing about
// them is suspicious.

/** Which part of an archive is wanted, and what it becomes. */
export interface Taking {
  /**
   * Path in the archive, of a file or of a directory with all that it holds. Its last part may hold `*`, for any
   * characters but `/`. What is not in the archive is not missed.
   */
  readonly from: string;
  /**
   * Path in the target, which the file or the directory gets; empty for the target itself. When `from` holds `*`, the
   * directory that gets each match under its own name.
   */
  readonly to: string;
}

export interface UnpackingProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface Unpacking {
  /**
   * Absolute path of a file: tar (also by gzip, xz or zstd), zip or deb, told by its content, not by its name. A list
   * holds the layers of a container image, lowest first; whiteouts remove what is in lower ones. In layers and in a deb
   * `/` is the root of the archive, also in the targets of links. A deb's own scripts are not run.
   */
  readonly archive: string | readonly string[];
  /** Absolute path of a directory that exists and is empty. After a refusal it is empty again. */
  readonly into: string;
  /** Whose the files become, and with whose rights they are written: the directory must be theirs. null: the host's. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Default: everything. */
  readonly take?: readonly Taking[];
  /** Whether a single directory that holds everything is left off. Default false. */
  readonly withoutTop?: boolean;
  /** Bytes that the archive may hold when unpacked, whether they are taken or not. Default 4 GiB. */
  readonly maxBytes?: number;
  /** Directories, files and links that the archive may hold. Default 300,000. */
  readonly maxEntries?: number;
  readonly signal: AbortSignal;
  onProgress?(progress: UnpackingProgress): void;
}

export interface Unpacked {
  readonly files: number;
  readonly bytes: number;
}

export interface Archives {
  /**
   * Looks through the whole archive first, and asks for the disk space, so that no file is made of one that is refused.
   * Files are 0644, or 0755 when the archive lets anybody run them, and have the time of their unpacking.
   * Rejects with a Problem 502 that names the entry for which the archive is refused, 507 when the disk has no room,
   * 400 when it is packed by a program that is not installed, and with the signal's reason.
   */
  unpack(unpacking: Unpacking): Promise<Unpacked>;
}

declare module '#core' {
  interface Services {
    /** Unpacks archives that come from elsewhere. */
    archives: Archives;
  }
}
