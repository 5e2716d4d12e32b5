// How programs of services come onto the machine: sources that fetch releases, runtimes that build them, and the engine
// that puts a finished release in the place of the one before.
import type { FetchAnswer, FetchOptions, FetchStream, NamedBlock, Problem } from '#core';

/** The release that is wanted. `latest`, `prerelease` and `nightly` name what their source calls so. */
export type InstallSelector =
  | { readonly kind: 'latest' | 'prerelease' | 'nightly' }
  /** A tag of the source, as `release_version` has it. */
  | { readonly kind: 'release'; readonly release: string }
  /** A version of a binary, as `pinned_version` has it. */
  | { readonly kind: 'pinned'; readonly version: string }
  | { readonly kind: 'branch'; readonly branch: string }
  | { readonly kind: 'commit'; readonly commit: string };

/** How far the step of a source or a runtime is. */
export interface StepProgress {
  /** A few words for people, such as `downloads app-3.0.1.zip`. */
  readonly text: string;
  /** 0 to 100 of this step; null while it is unknown. */
  readonly percent: number | null;
}

/** Of this machine. Vendors have names of their own for it, which their facts know. */
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
  /** A function is asked for them before each connection, for what does not last as long as a download. */
  readonly headers?: RequestHeaders | (() => Promise<RequestHeaders>);
  /** What the content must be, by each of them; anything else is a Problem 502. */
  readonly digest?: Digest | readonly Digest[];
  /** Default 4 GiB. */
  readonly maxBytes?: number;
}

/** What a source is asked with. */
export interface SourceRequest {
  readonly block: NamedBlock;
  /** `install.facts` of the template, which this source alone understands. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly selector: InstallSelector;
  readonly architecture: Architecture;
  /** The version that is installed; null when none is, or it is unknown. */
  readonly installedVersion: string | null;
  readonly signal: AbortSignal;
  /** Replaces `{option}` of the block and its instance in a text of the facts; unknown names stay. */
  fill(text: string): string;
  /**
   * `host.fetch`, through the proxy and the mirrors that the user has configured. An address that a feed has given goes
   * through it as well. Rejects with a Problem 502 or 504 that names the host; so does the body of a stream.
   */
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;
}

export interface FetchRequest extends SourceRequest {
  /**
   * Absolute path of an empty folder, in which nothing but the release may be made, by a child that runs as `user`. It
   * is on the file system of the service's folder.
   */
  readonly into: string;
  readonly user: InstallUser;
  /** How much a release may hold once it is unpacked. */
  readonly maxBytes: number;
  /**
   * Downloads a file, with progress, and continues a connection that is cut off. Gives its absolute path; it can be
   * read by `user` and is removed after the installation. Throws a Problem 502 or 504 that names the host, the status,
   * and what to do.
   */
  download(url: string, options: DownloadOptions): Promise<string>;
  /** Throws a Problem 507 when the file system of `into` has less room than this, and some to spare. */
  needSpace(bytes: number): Promise<void>;
  report(progress: StepProgress): void;
}

/** A release that could be installed. */
export interface AvailableRelease {
  /** As users speak of it: a tag, `<branch>-<commit>`, or `commit-<first 12 digits>`. */
  readonly version: string;
  /** http or https; null when there are none. */
  readonly notesUrl: string | null;
  /** How many releases lie between the installed one and this; null when that is unknown. */
  readonly releasesBehind: number | null;
}

/** A release whose files lie in `into`. */
export interface FetchedRelease {
  readonly version: string;
  /** Small texts that the engine writes into the release, by path, such as the digest of an image. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface PlaceRequest extends Pick<SourceRequest, 'block' | 'facts' | 'signal'> {
  /** Absolute path of the folder that `fetch` was given, with what it gave to be written there. */
  readonly directory: string;
  readonly version: string;
}

/** One way in which releases are published. */
export interface InstallSource {
  /** As `install.source` of a template names it. */
  readonly source: string;
  /**
   * Tells of a release without downloading it. Throws a Problem that says what to do; the header `Retry-After` of one
   * keeps updates from asking again for so many seconds. At most 30 s.
   */
  latest(request: SourceRequest): Promise<AvailableRelease>;
  /** Throws a Problem that says what to do; one with status 502 to 504 is tried again later by itself. */
  fetch(request: FetchRequest): Promise<FetchedRelease>;
  /**
   * Puts into the machine itself, while the service is stopped, what `fetch` has brought, as packages go. A source that
   * has it makes nothing beside the old release. What is placed already is left as it is. Throws a Problem.
   */
  place?(request: PlaceRequest): Promise<void>;
}

export interface BuildRequest {
  readonly block: NamedBlock;
  /** What `install.build` of the template has for this platform; an empty object when it has nothing. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Whether the block selects a branch or a commit, of which nobody has built anything. */
  readonly isFromSources: boolean;
  /**
   * The folder of the release, in which everything happens, by children that run as `user`. It lies below
   * `finalDirectory`.
   */
  readonly directory: string;
  /** Where its files will lie, for what writes its own path down. */
  readonly finalDirectory: string;
  /** Where package managers keep what later builds use; below the configuration directory. */
  readonly caches: string;
  readonly user: InstallUser;
  readonly version: string;
  /** How many jobs a package manager may run at once, and how many connections it may hold. */
  readonly childJobs: number;
  readonly networkJobs: number;
  readonly signal: AbortSignal;
  fill(text: string): string;
  /** Takes what the build prints, for the logs of the service; the last line is its progress. */
  output(lines: readonly string[]): Promise<void>;
}

/** What turns the files of a release into something that runs. */
export interface InstallRuntime {
  /** As `platforms` of a block, and `install.build` of a template, name it. */
  readonly platform: string;
  /** Asked before anything is fetched. Throws a Problem that says exactly what the machine lacks, and how to get it. */
  check(request: Pick<BuildRequest, 'block' | 'facts' | 'isFromSources' | 'user' | 'signal'>): Promise<void>;
  /** Ends all that it has started when its signal fires. Throws a Problem with the end of what failed. */
  build(request: BuildRequest): Promise<void>;
}

/** `waiting`: it has failed, and is tried again later by itself. */
export type InstallPhase = 'queued' | 'fetching' | 'building' | 'swapping' | 'waiting';

/** An installation that is under way, or will be. */
export interface InstallProgress extends StepProgress {
  readonly phase: InstallPhase;
}

/** What lies in the folder of a service. */
export interface InstalledRelease {
  /** null for what was there before the first installation. */
  readonly version: string | null;
  /** Unix seconds; null for what was there before the first installation. */
  readonly installedAt: number | null;
  /** The one that `restorePrevious` would bring back; null when there is none. */
  readonly previousVersion: string | null;
  /** Other processes that run from the same folder. */
  readonly sharedWith: readonly string[];
}

/** A release that is complete and lies beside the present one, which runs on meanwhile. */
export interface InstallCandidate {
  readonly version: string;
  /**
   * Puts it in the place of the present one, which becomes the previous one. No process may run from the folder. After
   * a crash in the middle the next boot completes it.
   */
  swap(): Promise<void>;
  /** Removes it. Nothing happens once it is swapped. */
  discard(): Promise<void>;
}

export interface PrepareOptions {
  /** Default: what the block selects. */
  readonly selector?: InstallSelector | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Installs releases of the services whose templates say how. */
export interface Installs {
  /** Whether a source can install the program of this process. */
  isSupported(processName: string): boolean;
  /** What the block of the process selects. */
  selector(processName: string): InstallSelector;
  /** The key of a block that keeps its program at what is selected; undefined for what moves. */
  settingOf(selector: InstallSelector): string | undefined;
  /** null when something that the release must have is missing. */
  installed(processName: string): Promise<InstalledRelease | null>;
  /** The release that is published. Throws a Problem. */
  latest(processName: string, options?: PrepareOptions): Promise<AvailableRelease>;
  /**
   * Fetches and builds a release beside the present one. One at a time for each folder: others wait. Throws a Problem
   * with nothing left behind.
   */
  prepare(processName: string, options?: PrepareOptions): Promise<InstallCandidate>;
  /** Takes the last swap back. No process may run from the folder. Throws a Problem 409 when there is none. */
  restorePrevious(processName: string): Promise<InstalledRelease>;
  /**
   * What stands in the way of installing the program of a block, which need not be in the configuration yet: a runtime,
   * or no answer from where the releases are. Changes nothing; undefined when nothing does. null when no source has it.
   */
  obstacle(block: NamedBlock): Promise<Problem | undefined | null>;
  /** Installs what these blocks lack. Resolves when each has its program, or has failed to get it. */
  installMissing(blocks: readonly NamedBlock[]): Promise<void>;
  /** undefined while nothing is being installed for the process. */
  progress(processName: string): InstallProgress | undefined;
  /** A number that changes with every change of a progress. */
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
    /** What builds the releases of one platform, such as those of Node or Python. */
    'install.runtime': InstallRuntime;
  }
  interface Services {
    /** Puts releases of the programs of services in place, and takes them back. */
    installs: Installs;
  }
}
