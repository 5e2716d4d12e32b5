// Finds the release, branch or commit of a repository that a block selects.
import { z } from 'zod';
import { Problem } from '#core';
import type { InstallSelector } from '../installs/contract.ts';
import type { GithubApi } from './github-api.ts';

export interface Asset {
  readonly id: number;
  readonly name: string;
  /** Address as the server gives it; not checked yet. */
  readonly url: string;
  /** Checksum of the content, such as `sha256:...`; null when the server gives none. */
  readonly digest: string | null;
}

export interface PublishedRelease {
  readonly version: string;
  /** The tag or the commit from which the sources are taken. */
  readonly reference: string;
  readonly notesUrl: string | null;
  readonly releasesBehind: number | null;
  /** The files of the release; undefined for a branch or a commit, which has none. */
  readonly assets: readonly Asset[] | undefined;
}

/** The form of a tag or branch. */
const REFERENCE = /^\w[\w.+~:/@-]{0,199}$/;
const COMMIT = /^[0-9a-f]{7,40}$/i;
const SHORT_COMMIT = 12;
const LISTED = 100;

const release = z.lazy(() =>
  z.object({
    tag_name: z.string().regex(REFERENCE),
    html_url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .nullable()
      .catch(null),
    draft: z.boolean().default(false),
    prerelease: z.boolean().default(false),
    published_at: z.iso.datetime({ offset: true }).nullish(),
    assets: z
      .array(
        z.object({
          id: z.int().min(0),
          name: z.string().max(255),
          browser_download_url: z.string().max(4_096),
          digest: z.string().max(200).nullish(),
        }),
      )
      .max(1_000)
      .default([]),
  }),
);
/** A release of an unknown form, such as a tag of another part of the project, is left out of the list. */
const releases = z.lazy(() =>
  z
    .array(release.nullable().catch(null))
    .max(LISTED)
    .refine(list => list.length === 0 || list.some(one => one !== null))
    .transform(list => list.filter(one => one !== null)),
);
const commit = z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) });
const branch = z.object({ commit });
const reference = z.object({ ref: z.string() });

type Release = z.output<typeof release>;

/**
 * The selected release. Finding out how far behind `installedVersion` is may cost another request; null saves it.
 * Throws a Problem: 400 when nothing fits the selection, 502 or 504 when the server's answer cannot be used.
 */
export async function publishedRelease(
  api: GithubApi,
  selector: InstallSelector,
  installedVersion: string | null,
): Promise<PublishedRelease> {
  const repo = new RepositoryReleases(api);
  switch (selector.kind) {
    case 'latest':
      return repo.latest(installedVersion);
    case 'prerelease':
    case 'nightly':
      return repo.newest(selector.kind, installedVersion);
    case 'release':
      return repo.tagged(selector.release, 'release_version');
    case 'pinned':
      return repo.tagged(selector.version, 'pinned_version');
    case 'branch':
      return repo.branch(selector.branch);
    case 'commit':
      return repo.commit(selector.commit);
  }
}

class RepositoryReleases {
  readonly #api: GithubApi;

  constructor(api: GithubApi) {
    this.#api = api;
  }

  get #name(): string {
    return this.#api.repositoryName;
  }

  async latest(installedVersion: string | null): Promise<PublishedRelease> {
    const what = `the latest release of ${this.#name}`;
    const found = await this.#api.find(`/releases/latest`, release, what);
    // A repository that has published nothing but prereleases has no latest one.
    if (found === undefined) return this.newest('prerelease', installedVersion);
    if (installedVersion === null || isSame(found, installedVersion))
      return told(found, installedVersion === null ? null : 0);
    return told(found, await this.#stableBehind(installedVersion));
  }

  /** How many stable releases are newer; null when that is unknown, even after a failed request for the list. */
  async #stableBehind(installedVersion: string): Promise<number | null> {
    try {
      const stable = (await this.#list()).filter(one => !one.prerelease);
      return behind(stable, installedVersion);
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  /** The newest release of a kind. `prerelease` includes stable releases, because a newer one replaces a prerelease. */
  async newest(kind: 'prerelease' | 'nightly', installedVersion: string | null): Promise<PublishedRelease> {
    const all = await this.#list();
    const fitting = all.filter(one => isNightly(one) === (kind === 'nightly'));
    const [newest] = fitting;
    if (newest !== undefined) return told(newest, behind(fitting, installedVersion));
    const remedy = all.length === 0 ? 'select a branch' : 'select latest, or a release';
    throw new Problem(400, `${this.#name} has published no ${kind}; ${remedy}`);
  }

  /** The release with a tag, with or without a leading `v`. `option` is where the tag is configured, for messages. */
  async tagged(tag: string, option: string): Promise<PublishedRelease> {
    if (!REFERENCE.test(tag))
      throw new Problem(400, `${JSON.stringify(tag)} is the tag of no release; correct ${option}`);
    const spellings = [tag, tag.startsWith('v') ? tag.slice(1) : `v${tag}`];
    for (const spelling of spellings) {
      const path = `/releases/tags/${encodeURIComponent(spelling)}`;
      const found = await this.#api.find(path, release, `the release ${spelling} of ${this.#name}`);
      if (found !== undefined) return told(found, null);
    }
    const path = `/git/ref/tags/${encodeURIComponent(tag)}`;
    if ((await this.#api.find(path, reference, `the tag ${tag} of ${this.#name}`)) === undefined)
      throw new Problem(400, `${this.#name} has no release ${tag}; correct ${option}, or repo_owner and repo_name`);
    return { version: tag, reference: tag, notesUrl: null, releasesBehind: null, assets: [] };
  }

  async branch(name: string): Promise<PublishedRelease> {
    if (!REFERENCE.test(name))
      throw new Problem(400, `${JSON.stringify(name)} is no branch; correct the option branch`);
    const path = `/branches/${encodeURIComponent(name)}`;
    const found = await this.#api.find(path, branch, `the branch ${name} of ${this.#name}`);
    if (found === undefined)
      throw new Problem(400, `${this.#name} has no branch ${name}; correct the option branch, or switch it off`);
    return ofCommit(found.commit.sha, name);
  }

  async commit(sha: string): Promise<PublishedRelease> {
    if (!COMMIT.test(sha)) throw new Problem(400, `${JSON.stringify(sha)} is no commit; correct commit_sha`);
    const found = await this.#api.find(`/commits/${sha}`, commit, `the commit ${sha} of ${this.#name}`);
    if (found === undefined) throw new Problem(400, `${this.#name} has no commit ${sha}; correct commit_sha`);
    return ofCommit(found.sha, 'commit');
  }

  /** The published releases, the newest first. */
  async #list(): Promise<Release[]> {
    const path = `/releases?per_page=${LISTED}`;
    const found = await this.#api.find(path, releases, `the releases of ${this.#name}`);
    if (found === undefined)
      throw new Problem(
        502,
        `${new URL(this.#api.url('')).host} has no repository ${this.#name} for us (404); correct repo_owner and repo_name, or give github_token in the section dumb if it is private`,
      );
    const timeOf = (one: Release): number => Date.parse(one.published_at ?? '') || 0;
    return found.filter(one => !one.draft).sort((a, b) => timeOf(b) - timeOf(a));
  }
}

function told({ tag_name: tag, html_url: notesUrl, assets }: Release, releasesBehind: number | null): PublishedRelease {
  const files = assets.map(({ id, name, browser_download_url: url, digest }) => ({
    id,
    name,
    url,
    digest: digest ?? null,
  }));
  return { version: tag, reference: tag, notesUrl, releasesBehind, assets: files };
}

/** `name` is the name of the branch, or the word `commit`. */
function ofCommit(sha: string, name: string): PublishedRelease {
  const version = `${name}-${sha.slice(0, SHORT_COMMIT)}`;
  return { version, reference: sha, notesUrl: null, releasesBehind: null, assets: undefined };
}

/** How many releases are newer than the installed one; null when that is not in the list. */
function behind(newestFirst: readonly Release[], installedVersion: string | null): number | null {
  if (installedVersion === null) return null;
  const place = newestFirst.findIndex(one => isSame(one, installedVersion));
  return place < 0 ? null : place;
}

function isSame({ tag_name: tag }: Release, version: string): boolean {
  return tag.replace(/^v/, '') === version.replace(/^v/, '');
}

function isNightly({ tag_name: tag }: Release): boolean {
  return /nightly/i.test(tag);
}
