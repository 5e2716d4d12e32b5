// Prepares one release beside the present one: its source fetches it, its runtimes build it, then it is checked.
import { type Host, Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import type {} from '../process/contract.ts';
import { cacheDirectory } from './cache-directory.ts';
import type {
  Architecture,
  AvailableRelease,
  BuildRequest,
  FetchRequest,
  InstallPhase,
  InstallProgress,
  InstallRuntime,
  InstallSelector,
  InstallSource,
  InstallUser,
  SourceRequest,
  StepProgress,
} from './contract.ts';
import { needSpace } from './disk-space.ts';
import { download } from './download.ts';
import { filler, type OwnTarget } from './install-target.ts';
import type { InstallLimits } from './limits.ts';
import type { Draft, ReleaseFolder } from './release-folder.ts';
import { selectsSources } from './selectors.ts';
import { sourceFetch, telling } from './source-fetch.ts';
import type { KeptPlaces } from './swap.ts';
import { vendorFetch } from './vendor-fetch.ts';

export interface PreparationOptions {
  readonly host: Host;
  readonly target: OwnTarget;
  readonly source: InstallSource;
  readonly builds: readonly RuntimeBuild[];
  readonly selector: InstallSelector;
  readonly installedVersion: string | null;
  readonly user: InstallUser;
  readonly limits: InstallLimits;
  readonly signal: AbortSignal;
  report(progress: InstallProgress): void;
}

interface RuntimeBuild {
  readonly runtime: InstallRuntime;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface ReadyRelease {
  readonly draft: Draft;
  readonly version: string;
}

const LATEST_LIMIT_MS = 30_000;
/** How much is shown of a line that a build has printed. */
const MAX_TEXT = 200;
/** The number at the beginning of a version, as in `v10.10.7+deb12`. */
const NUMBER = /^v?(\d+(?:\.\d+)+)/;
const ARCHITECTURES: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm' };

/** Throws a Problem and then leaves nothing behind. */
export async function prepareRelease(
  options: PreparationOptions,
  folder: ReleaseFolder,
  kept: KeptPlaces,
): Promise<ReadyRelease> {
  const { target, builds, signal } = options;
  const report = reporter(options, 'fetching');
  await checkRuntimes(options);
  const draft = await folder.begin(options.user, target.isGiven);
  try {
    const { version, files = {} } = await fetchRelease(options, { into: draft.files, downloads: draft.downloads });
    await folder.removeDownloads(draft);
    for (const build of builds)
      await runBuild(options, build, { draft, version, finalDirectory: target.directory ?? '' });
    signal.throwIfAborted();
    const { versionFile } = target;
    await folder.write(draft, { ...files, ...(versionFile === undefined ? {} : { [versionFile]: `${version}\n` }) });
    const lacking = await Promise.all(target.parts.map(parts => folder.missing(draft, parts, kept)));
    const [[missing] = []] = lacking;
    if (missing !== undefined && lacking.every(places => places.length > 0))
      throw new Problem(
        502,
        `the release ${version} has no ${missing}, without which it cannot run; choose another release`,
      );
    // Checked here already, before the service is stopped for the swap.
    await folder.checkPlace(draft, kept);
    report({ text: `waits until ${version} is on its disk`, percent: null });
    await folder.secure(draft, signal);
    return { draft, version };
  } catch (error) {
    await folder.discard(draft);
    throw error;
  }
}

/** The selected release. Throws a Problem, also when the source does not answer within 30 s. */
export async function latestRelease(options: PreparationOptions): Promise<AvailableRelease> {
  const { source, target, signal } = options;
  const asked = sourceRequest(options);
  const what = `the look for releases of ${target.block.processName}`;
  const release = await withDeadline(() => source.latest(asked), LATEST_LIMIT_MS, what).catch(asNoAnswer(signal));
  return { ...release, notesUrl: release.notesUrl ?? notesUrl(target, release.version) };
}

/** The address of the release notes; null when there is none, or the version has no number. */
function notesUrl({ notes }: OwnTarget, version: string): string | null {
  const [, number] = NUMBER.exec(version) ?? [];
  const address = number && notes?.replace('{version}', number);
  return address !== undefined && URL.canParse(address) ? address : null;
}

/** Throws a Problem that says what the machine lacks. */
export async function checkRuntimes({ builds, target, user, signal }: PreparationOptions): Promise<void> {
  const { block } = target;
  const isFromSources = selectsSources(block.block);
  for (const { runtime, facts } of builds) await runtime.check({ block, facts, isFromSources, user, signal });
}

function sourceRequest({ host, target, selector, installedVersion, signal }: PreparationOptions): SourceRequest {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined)
    throw new Problem(400, `programs are published for amd64, arm64 and arm, and this machine is ${process.arch}`);
  return {
    block: target.block,
    facts: target.facts,
    selector,
    architecture,
    installedVersion,
    signal,
    fill: filler(target.block),
    fetch: sourceFetch(vendorFetch(host), signal),
  };
}

/** Fetches the release. Throws a Problem; any other error of the source becomes a Problem 502. */
export async function fetchRelease(
  options: PreparationOptions,
  { into, downloads }: { readonly into: string; readonly downloads: string },
) {
  const { host, source, target, user, signal } = options;
  const asked = sourceRequest(options);
  const report = reporter(options, 'fetching');
  const room = (bytes: number): Promise<void> => needSpace(into, bytes);
  const request: FetchRequest = {
    ...asked,
    into,
    user,
    maxBytes: target.maxBytes,
    needSpace: room,
    report,
    download: (url, wanted) =>
      telling(url, signal, () =>
        download({
          ...wanted,
          url,
          directory: downloads,
          user,
          signal,
          fetch: vendorFetch(host),
          paced: ms => host.paced(ms),
          needSpace: room,
          report,
        }),
      ),
  };
  return source.fetch(request).catch(asNoAnswer(signal));
}

/** Turns an error that is not a Problem into a Problem 502 about a remote system. */
function asNoAnswer(signal: AbortSignal): (error: unknown) => never {
  return error => {
    signal.throwIfAborted();
    if (error instanceof Problem) throw error;
    throw new Problem(502, `${errorText(error)}; check the network of this machine, or try again later`, {
      cause: error,
    });
  };
}

async function runBuild(
  options: PreparationOptions,
  { runtime, facts }: RuntimeBuild,
  { draft, version, finalDirectory }: { draft: Draft; version: string; finalDirectory: string },
): Promise<void> {
  const { host, target, user, limits, signal } = options;
  const report = reporter(options, 'building');
  const request: BuildRequest = {
    block: target.block,
    facts,
    isFromSources: selectsSources(target.block.block),
    directory: draft.files,
    finalDirectory,
    user,
    version,
    caches: await cacheDirectory(host.paths.configDir, user, draft.caches),
    childJobs: limits.childJobs,
    networkJobs: limits.networkJobs,
    signal,
    fill: filler(target.block),
    output: async lines => {
      const text = redact(lines.at(-1) ?? '').slice(0, MAX_TEXT);
      if (text !== '') report({ text, percent: null });
      await host.find('process.supervisor')?.record(target.block.processName, lines);
    },
  };
  report({ text: `builds with ${runtime.platform}`, percent: null });
  await runtime.build(request);
}

function reporter({ report }: PreparationOptions, phase: InstallPhase): (progress: StepProgress) => void {
  return ({ text, percent }) => report({ phase, text, percent });
}
