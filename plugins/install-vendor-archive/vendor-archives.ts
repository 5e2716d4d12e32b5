// Installs programs from archives that their vendors announce in feeds of their own.
import { type Host, Problem } from '#core';
import type {
  AvailableRelease,
  FetchedRelease,
  FetchRequest,
  InstallSource,
  SourceRequest,
} from '../installs/contract.ts';
import { publishedArchive } from './published-archive.ts';
import { vendorFacts } from './vendor-facts.ts';

const FILE_NAME = /^\w[\w.+-]{0,119}$/;

export class VendorArchives implements InstallSource {
  readonly source = 'vendor-archive';
  readonly #host: Pick<Host, 'contributions' | 'find' | 'use'>;

  constructor(host: Pick<Host, 'contributions' | 'find' | 'use'>) {
    this.#host = host;
  }

  async latest(request: SourceRequest): Promise<AvailableRelease> {
    const delegated = this.#delegated(request);
    if (delegated !== undefined) return delegated.source.latest({ ...request, facts: delegated.facts });
    const { version, releasesBehind } = await publishedArchive(request, this.#host);
    return { version, notesUrl: null, releasesBehind };
  }

  async fetch(request: FetchRequest): Promise<FetchedRelease> {
    const delegated = this.#delegated(request);
    if (delegated !== undefined) return delegated.source.fetch({ ...request, facts: delegated.facts });
    const { paths } = vendorFacts.parse(request.facts);
    request.report({ text: 'asks its vendor', percent: null });
    const { version, url, digest } = await publishedArchive(request, this.#host);
    const last = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
    const name = FILE_NAME.test(last) ? last : 'archive';
    const archive = await request.download(url.href, digest === undefined ? { name } : { name, digest });
    const { files } = await this.#host.use('archives').unpack({
      archive,
      into: request.into,
      user: request.user,
      maxBytes: request.maxBytes,
      signal: request.signal,
      ...(paths === undefined ? {} : { take: Object.entries(paths).map(([from, to]) => ({ from, to })) }),
      onProgress: ({ doneBytes, totalBytes }) =>
        request.report({ text: `unpacks ${name}`, percent: Math.floor((100 * doneBytes) / Math.max(1, totalBytes)) }),
    });
    if (files === 0)
      throw new Problem(502, `${name} of ${url.host} holds nothing of the program; select another version`);
    return { version };
  }

  /** The source for GitHub releases, with its facts, if the selection and the template ask for it. */
  #delegated({ selector, facts }: SourceRequest) {
    const { release, words } = vendorFacts.parse(facts);
    if (release === undefined || selector.kind === 'latest' || selector.kind === 'pinned') return undefined;
    const source = this.#host.contributions('install.source').get('github-release')?.value;
    if (source === undefined)
      throw new Problem(503, 'Releases by their tag need the plugin install-github-release; switch it on');
    return { source, facts: { ...release, words } };
  }
}
