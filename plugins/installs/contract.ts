// How programs of services are installed: sources fetch releases, runtimes build them, and the engine swaps a finished
// release for the one before.
import type { FetchAnswer, FetchOptions, FetchStream, NamedBlock, Problem } from '#core';

/** The release that is wanted. Each source defines what `latest`, `prerelease` and `nightly` mean. */
export type InstallSelector =
  | { readonly kind: 'latest' | 'prerelease' | 'nightly' }
  /** A tag of the source, as `release_version` has it. */
  | { readonly kind: 'release'; readonly release: string }
  /** A version of a binary, as `pinned_version` has it. */
  | { readonly kind: 'pinned'; readonly version: string }
  | { readonly kind: 'branch'; readonly branch: string }
  | { readonly kind: 'commit'; readonly commit: string };

/** The progress of a step of a source or a runtime. */
export interface StepProgress {
  /** A few words for people, such as `downloads app-3.0.1.zip`. */
  readonly text: string;
  /** 0 to 100 of this step; null while it is unknown. */
  readonly percent: number | null;
}

/** The architecture of this machine. The facts of a template map it to the names that vendors use. */
export type Architecture = 'amd64' | 'arm64' | 'arm';

/** The user to whom a service's files belong; null for the host's own user. */
export type InstallUser = { readonly uid: number; readonly gid: number } | null;

export interface Digest {
  readonly algorithm: 'sha256' | 'sha512';
  readonly hex: string;
}

type RequestHeaders = Readonly<Record<string, string>>;

export interface DownloadOptions {
  /** Name of the file, without directories. */
  readonly name: string;
  /** A function is called before each connection, for headers that may expire during the download. */
  readonly headers?: RequestHeaders | (() => Promise<RequestHeaders>);
  /** The digests of the content. When one of them differs, the download rejects with a Problem 502. */
  readonly digest?: Digest | readonly Digest[];
  /** The greatest size of the file. Default 4 GiB. */
  readonly maxBytes?: number;
}

/** The request to a source. */
export interface SourceRequest {
  readonly block: NamedBlock;
  /** `install.facts` of the template; only this source interprets them. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly selector: InstallSelector;
  readonly architecture: Architecture;
  /** The installed version; null when none is installed, or it is unknown. */
  readonly installedVersion: string | null;
  readonly signal: AbortSignal;
  /** Replaces `{option}` of the block and its instance in a text of the facts; unknown names stay. */
  fill(text: string): string;
  /**
   * Like `host.fetch`, through the proxy and the mirrors that the user has configured. Sources use it for addresses
   * from feeds as well. Rejects with a Problem 502 or 504 that names the host; so does the body of a stream.
   */
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;
}

export interface FetchRequest extends SourceRequest {
  /**
   * Absolute path of an empty folder on the file system of the service's folder. Only the release may be written into
   * it, by a child process that runs as `user`.
   */
  readonly into: string;
  readonly user: InstallUser;
  /** The greatest size of the release once it is unpacked. */
  readonly maxBytes: number;
  /**
   * Downloads a file, reports the progress, and continues after a connection that broke off. Resolves with the absolute
   * path of the file, which `user` can read and which is removed after the installation. Throws a Problem 502 or 504
   * that names the host, the status and what to do, or a Problem 500 or 507 for the disk.
   */
  download(url: string, options: DownloadOptions): Promise<string>;
  /** Throws a Problem 507 when the file system of `into` has less room than this and a reserve. */
  needSpace(bytes: number): Promise<void>;
  report(progress: StepProgress): void;
}

/** A release that could be installed. */
export interface AvailableRelease {
  /** The version as users see it: a tag, `<branch>-<commit>`, or `commit-<first 12 digits>`. */
  readonly version: string;
  /** The http or https address of the release notes; null when there are none. */
  readonly notesUrl: string | null;
  /** How many releases lie between the installed one and this; null when that is unknown. */
  readonly releasesBehind: number | null;
}

/** A release whose files a source has put into `into`. */
export interface FetchedRelease {
  readonly version: string;
  /** Small texts that the engine writes into the release, by path, such as the digest of an image. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface PlaceRequest extends Pick<SourceRequest, 'block' | 'facts' | 'signal'> {
  /** Absolute path of the folder that `fetch` has filled, together with the `files` that it returned. */
  readonly directory: string;
  readonly version: string;
}

/** One way in which releases are published. */
export interface InstallSource {
  /** The name of the source in `install.source` of templates. */
  readonly source: string;
  /**
   * Finds the selected release without downloading it, within 30 s. Throws a Problem that says what to do; when that
   * has the header `Retry-After`, updates do not ask again for so many seconds.
   */
  latest(request: SourceRequest): Promise<AvailableRelease>;
  /** Fetches the selected release. Throws a Problem that says what to do; after a 502, 503 or 504 the host retries. */
  fetch(request: FetchRequest): Promise<FetchedRelease>;
  /**
   * Installs what `fetch` has brought into the machine itself, as packages are installed, while the service is stopped.
   * A source with this method does not put a new release beside the old one. Calling it again for the same release
   * changes nothing. Throws a Problem.
   */
  place?(request: PlaceRequest): Promise<void>;
}

export interface BuildRequest {
  readonly block: NamedBlock;
  /** The facts of `install.build` of the template for this platform; an empty object when there are none. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Whether the block selects a branch or a commit, of which no built release is published. */
  readonly isFromSources: boolean;
  /** The folder of the release, below `finalDirectory`. Only child processes that run as `user` work in it. */
  readonly directory: string;
  /** Where the files will be after the swap, for programs that write their own path into files. */
  readonly finalDirectory: string;
  /** The directory for the caches of package managers, which later builds use again. */
  readonly caches: string;
  readonly user: InstallUser;
  readonly version: string;
  /** How many jobs a package manager may run at once; `networkJobs` limits its connections. */
  readonly childJobs: number;
  readonly networkJobs: number;
  readonly signal: AbortSignal;
  fill(text: string): string;
  /** Takes lines that the build prints, for the logs of the service; the last line is shown as the progress. */
  output(lines: readonly string[]): Promise<void>;
}

/** Builds a program that can run from the files of a release. */
export interface InstallRuntime {
  /** The name of the platform in `platforms` of blocks and in `install.build` of templates. */
  readonly platform: string;
  /** Called before anything is fetched. Throws a Problem that says exactly what the machine lacks and how to get it. */
  check(request: Pick<BuildRequest, 'block' | 'facts' | 'isFromSources' | 'user' | 'signal'>): Promise<void>;
  /** Builds the release. Ends all child processes when the signal fires. Throws a Problem with the last output. */
  build(request: BuildRequest): Promise<void>;
}

/** `waiting` means that the installation has failed and will be tried again automatically. */
export type InstallPhase = 'queued' | 'fetching' | 'building' | 'swapping' | 'waiting';

/** The progress of an installation that runs or waits. */
export interface InstallProgress extends StepProgress {
  readonly phase: InstallPhase;
}

/** The release that is installed for a service. */
export interface InstalledRelease {
  /** null for a program that was there before the first installation. */
  readonly version: string | null;
  /** Unix seconds; null for a program that was there before the first installation. */
  readonly installedAt: number | null;
  /** The version that `restorePrevious` would bring back; null when there is none, or its version is unknown. */
  readonly previousVersion: string | null;
  /** Other processes that run from the same folder. */
  readonly sharedWith: readonly string[];
}

/** A release that is ready beside the present one, which goes on running. */
export interface InstallCandidate {
  readonly version: string;
  /**
   * Puts the release in the place of the present one, which becomes the previous one. No process may run from the
   * folder. If the host crashes during the swap, the next start completes it.
   */
  swap(): Promise<void>;
  /** Removes the release. Does nothing after `swap`. */
  discard(): Promise<void>;
}

export interface PrepareOptions {
  /** Default: the selector of the block. */
  readonly selector?: InstallSelector | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Installs releases of services whose templates have `install`. */
export interface Installs {
  /** Whether a source can install the program of this process. */
  isSupported(processName: string): boolean;
  /** The release that the block of the process selects. */
  selector(processName: string): InstallSelector;
  /** The key of a block by which it stays at this release; undefined for `latest`, `prerelease` and `nightly`. */
  settingOf(selector: InstallSelector): string | undefined;
  /** null when nothing is installed, or a file that the release must have is missing. */
  installed(processName: string): Promise<InstalledRelease | null>;
  /** The published release that is selected. Throws a Problem. */
  latest(processName: string, options?: PrepareOptions): Promise<AvailableRelease>;
  /**
   * Fetches and builds a release beside the present one. Preparations for one type of service run one after the other.
   * Throws a Problem and then leaves nothing behind.
   */
  prepare(processName: string, options?: PrepareOptions): Promise<InstallCandidate>;
  /** Reverts the last swap. No process may run from the folder. Throws a Problem 409 without a previous release. */
  restorePrevious(processName: string): Promise<InstalledRelease>;
  /**
   * Why the program of a block, which need not be in the configuration yet, could not be installed now: a runtime lacks
   * something, or the source does not answer. undefined when it could; null when no source offers it. Changes nothing.
   */
  obstacle(block: NamedBlock): Promise<Problem | undefined | null>;
  /** Installs the missing programs of these blocks. Resolves when each is installed or has failed. */
  installMissing(blocks: readonly NamedBlock[]): Promise<void>;
  /** undefined while nothing is being installed for the process. */
  progress(processName: string): InstallProgress | undefined;
  /** A number that changes whenever the progress of any process does. */
  readonly revision: number;
}

declare module '#core' {
  interface Events {
    /**
     * A program could not be installed before the start of its process, at the boot or for several processes at once.
     */
    'service.preinstall.failed': { readonly processName: string; readonly reason: string };
  }
  interface Contributions {
    /** One way in which releases of programs are published and fetched. */
    'install.source': InstallSource;
    /** Builds the releases of one platform, such as those of Node or Python. */
    'install.runtime': InstallRuntime;
  }
  interface Services {
    /** Installs releases of the programs of services, and restores previous ones. */
    installs: Installs;
  }
}
