// Installs programs from releases, branches and commits of repositories on GitHub.
import path from 'node:path';
import { type Host, Problem } from '#core';
import { clockTime } from '#kit/clock-time';
import { toldUrl } from '#kit/told-url';
import type { Taking } from '../archives/contract.ts';
import type {
  AvailableRelease,
  Digest,
  FetchedRelease,
  FetchRequest,
  InstallSource,
  SourceRequest,
} from '../installs/contract.ts';
import { listedDigest, toldDigest } from './checksums.ts';
import { chosenAsset, filled } from './chosen-asset.ts';
import { GithubApi, type Refusal } from './github-api.ts';
import { type GithubFacts, githubFacts, repositoryOf } from './github-facts.ts';
import { checkProgram, placeProgram } from './program-file.ts';
import { type Asset, type PublishedRelease, publishedRelease } from './published-release.ts';
import type { GithubSettings } from './settings.ts';

const ARCHIVE = /\.(?:tar|tar\.gz|tgz|tar\.xz|txz|tar\.zst|zip|deb)$/i;

export class GithubReleases implements InstallSource {
  readonly source = 'github-release';
  readonly #host: Pick<Host, 'use'>;
  readonly #settings: () => GithubSettings;
  readonly #refusals = new Map<string, Refusal>();

  constructor(host: Pick<Host, 'use'>, settings: () => GithubSettings) {
    this.#host = host;
    this.#settings = settings;
  }

  async latest(request: SourceRequest): Promise<AvailableRelease> {
    const facts = githubFacts.parse(request.facts);
    const { installedVersion } = request;
    const { release } = await this.#find(request, facts, { ...this.#settings(), maxWaitS: 0, installedVersion });
    if (release.assets !== undefined && facts.assets !== undefined) chosenAsset(release, facts.assets, facts, request);
    const { version, notesUrl, releasesBehind } = release;
    return { version, notesUrl, releasesBehind };
  }

  async fetch(request: FetchRequest): Promise<FetchedRelease> {
    const facts = githubFacts.parse(request.facts);
    request.report({ text: 'asks GitHub', percent: null });
    // `null` saves the request for how far behind the installed release is, which is not needed here.
    const options = { ...this.#settings(), installedVersion: null };
    const { api, release } = await this.#find(request, facts, options, untilMs =>
      request.report({ text: `waits until ${clockTime(untilMs).slice(11)} for GitHub`, percent: null }),
    );
    if (release.assets === undefined || facts.assets === undefined)
      await this.#takeSources(request, facts, api, release);
    else await this.#takeAsset(request, facts, api, release);
    return { version: release.version };
  }

  async #find(
    request: SourceRequest,
    facts: GithubFacts,
    { token, maxWaitS, installedVersion }: GithubSettings & Pick<SourceRequest, 'installedVersion'>,
    onWait?: (untilMs: number) => void,
  ): Promise<{ api: GithubApi; release: PublishedRelease }> {
    const repository = repositoryOf(facts, request);
    if (repository.name === facts.privateRepository && token === '')
      throw new Problem(
        400,
        `${repository.owner}/${repository.name} is a private repository; give github_token in the section dumb, or select another release`,
      );
    const api = new GithubApi(
      request,
      { base: facts.api, repository, token, maxWaitS, refusals: this.#refusals },
      onWait,
    );
    return { api, release: await publishedRelease(api, request.selector, installedVersion) };
  }

  async #takeSources(
    request: FetchRequest,
    facts: GithubFacts,
    api: GithubApi,
    release: PublishedRelease,
  ): Promise<void> {
    const { name } = repositoryOf(facts, request);
    const reference = release.assets === undefined ? release.reference : `refs/tags/${release.reference}`;
    const url = api.url(`/zipball/${reference.split('/').map(encodeURIComponent).join('/')}`);
    const archive = await request.download(url, { name: `${name}.zip`, headers: api.headers });
    await this.#unpack(request, archive, { withoutTop: true });
  }

  async #takeAsset(
    request: FetchRequest,
    facts: GithubFacts,
    api: GithubApi,
    release: PublishedRelease,
  ): Promise<void> {
    const asset = chosenAsset(release, facts.assets ?? [], facts, request);
    const listed = await this.#listedDigest(request, facts, api, release, asset);
    const digest = [listed, toldDigest(asset)].filter(one => one !== undefined);
    const { url, headers } = addressOf(asset, api);
    const file = await request.download(url, { name: asset.name, headers, digest });
    const paths = Object.entries(facts.paths ?? {}).map(([from, to]) => ({
      from: filled(from, release.version, facts, request),
      to,
    }));
    if (!ARCHIVE.test(asset.name)) {
      const place = paths.find(({ from }) => from.toLowerCase() === asset.name.toLowerCase());
      return placeProgram(file, place?.to ?? asset.name, request);
    }
    await this.#unpack(request, file, {
      withoutTop: facts.topFolder === true,
      ...(facts.paths === undefined ? {} : { take: paths }),
    });
    for (const { to } of paths) if (to !== '') await checkProgram(path.join(request.into, to), request.architecture);
  }

  /** undefined when the facts name no file of checksums. */
  async #listedDigest(
    request: FetchRequest,
    facts: GithubFacts,
    api: GithubApi,
    release: PublishedRelease,
    asset: Asset,
  ): Promise<Digest | undefined> {
    if (facts.checksums === undefined) return undefined;
    const list = filled(facts.checksums, release.version, facts, request);
    const found = release.assets?.find(({ name }) => name === list);
    if (found === undefined)
      throw new Problem(
        502,
        `The release ${release.version} of ${request.block.processName} has no ${list}, by which it is checked; choose another release`,
      );
    return listedDigest(asset, { ...addressOf(found, api), list }, request);
  }

  async #unpack(
    request: FetchRequest,
    archive: string,
    options: { readonly withoutTop: boolean; readonly take?: readonly Taking[] },
  ): Promise<void> {
    const name = path.basename(archive);
    const { files } = await this.#host.use('archives').unpack({
      archive,
      ...options,
      into: request.into,
      user: request.user,
      maxBytes: request.maxBytes,
      signal: request.signal,
      onProgress: ({ doneBytes, totalBytes }) =>
        request.report({ text: `unpacks ${name}`, percent: Math.floor((100 * doneBytes) / Math.max(1, totalBytes)) }),
    });
    if (files === 0) throw new Problem(502, `${name} holds nothing of the program; choose another release`);
  }
}

/** The address in the API if there is a token, which private repositories need; otherwise the public one. */
function addressOf({ id, url }: Asset, api: GithubApi): { url: string; headers: Record<string, string> } {
  if (!api.hasToken) return { url: toldUrl(url, api.url('')).href, headers: {} };
  const headers = { ...api.headers, accept: 'application/octet-stream' };
  return { url: api.url(`/releases/assets/${id}`), headers };
}
