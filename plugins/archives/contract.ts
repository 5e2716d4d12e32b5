// The service that unpacks archives for plugins that install programs: in a child process, and only if nothing in the
// archive is suspicious.

/** A part of an archive that is wanted, and the place that it gets. */
export interface Taking {
  /**
   * Path in the archive, of a file or of a directory with all its content. The last part may hold `*` for any
   * characters but `/`. A path that is not in the archive is no error.
   */
  readonly from: string;
  /**
   * Path of the file or directory in the target; empty for the target itself. If `from` holds `*`, the directory that
   * gets each match under its own name.
   */
  readonly to: string;
}

export interface UnpackingProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface Unpacking {
  /**
   * Absolute path of a file: tar (also packed by gzip, xz or zstd), zip or deb, recognised by content, not by name. A
   * list holds the layers of a container image, lowest first; whiteouts remove entries of lower layers. In layers and
   * in a deb `/` is the root of the archive, also in the targets of links. Scripts of a deb are not run.
   */
  readonly archive: string | readonly string[];
  /** Absolute path of a directory that exists and is empty. After a refusal it is empty again. */
  readonly into: string;
  /**
   * The user who gets the files and with whose rights they are written, and who must own the directory. null: the
   * host's user.
   */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Default: everything. */
  readonly take?: readonly Taking[];
  /** Whether a single top directory that holds everything is left out. Default false. */
  readonly withoutTop?: boolean;
  /** Bytes that the archive may unpack to, whether they are taken or not. Default 4 GiB. */
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
   * Checks the whole archive and the free disk space first, so that no file is made from an archive that is refused.
   * Files get the mode 0644, or 0755 if they are executable in the archive, and the time of their unpacking. Rejects
   * with a Problem 502 that names the entry for which the archive is refused, 507 when the disk has no room, 400 when
   * the program that unpacks it is not installed, and with the signal's reason.
   */
  unpack(unpacking: Unpacking): Promise<Unpacked>;
}

declare module '#core' {
  interface Services {
    /** Unpacks archives from untrusted sources. */
    archives: Archives;
  }
}
