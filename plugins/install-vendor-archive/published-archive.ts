// Finds the archive of a vendor that a block selects.
import { type Host, Problem } from '#core';
import type { SourceRequest } from '../installs/contract.ts';
import { checkArchitecture, checkedVersion, feedAddress } from './feed-address.ts';
import { listedArchive, type PublishedArchive, redirectedArchive, releaseList, xmlRelease } from './feeds.ts';
import { tokenHeader } from './owner-token.ts';
import { type VendorFacts, vendorFacts } from './vendor-facts.ts';

/** Throws a Problem: 400 when nothing fits the selection, 502 or 504 when the vendor's answer cannot be used. */
export async function publishedArchive(request: SourceRequest, host: Pick<Host, 'find'>): Promise<PublishedArchive> {
  const facts = vendorFacts.parse(request.facts);
  const archive = await selected(request, facts, host);
  checkArchitecture(archive.url, facts, request.architecture);
  return archive;
}

function selected(request: SourceRequest, facts: VendorFacts, host: Pick<Host, 'find'>): Promise<PublishedArchive> {
  const { selector, block } = request;
  if (selector.kind === 'pinned') return pinned(request, facts, checkedVersion(selector.version));
  if (selector.kind === 'latest') return newest(request, facts, host);
  throw new Problem(
    400,
    `${block.processName} is published as finished archives alone, so there is no ${selector.kind} of it; ` +
      'select a version by pinned_version, or nothing for the latest',
  );
}

async function newest(request: SourceRequest, facts: VendorFacts, host: Pick<Host, 'find'>): Promise<PublishedArchive> {
  const { feed } = facts;
  if (feed !== undefined)
    return xmlRelease(request, feedAddress(feed.url, facts, request), feed, await tokenHeader(request, feed, host));
  const ways: (() => Promise<PublishedArchive>)[] = [];
  const { changes } = facts;
  if (changes !== undefined) ways.push(() => newestListed(request, facts, changes));
  for (const text of [facts.latest, facts.fallback])
    if (text !== undefined) ways.push(() => redirectedArchive(request, feedAddress(text, facts, request)));
  let first: unknown;
  for (const way of ways) {
    try {
      return await way();
    } catch (error) {
      request.signal.throwIfAborted();
      first ??= error;
    }
  }
  throw first ?? new Error('the facts name no feed');
}

async function newestListed(request: SourceRequest, facts: VendorFacts, text: string): Promise<PublishedArchive> {
  const address = feedAddress(text, facts, request);
  const releases = await releaseList(request, address);
  const behind = releases.findIndex(({ version }) => version === request.installedVersion);
  const [first] = releases;
  if (first === undefined) throw new Error('a list of releases has one at least');
  return { ...listedArchive(first, address), releasesBehind: behind < 0 ? null : behind };
}

async function pinned(request: SourceRequest, facts: VendorFacts, version: string): Promise<PublishedArchive> {
  if (facts.changes !== undefined) {
    const address = feedAddress(facts.changes, facts, request);
    const releases = await releaseList(request, address).catch((error: unknown) => {
      request.signal.throwIfAborted();
      if (facts.pinned === undefined) throw error;
      return [];
    });
    const found = releases.find(release => release.version === version);
    if (found !== undefined) return { ...listedArchive(found, address), releasesBehind: null };
  }
  if (facts.pinned === undefined)
    throw new Problem(
      400,
      `${request.block.processName} is not published as ${version} any more; correct pinned_version, or leave it blank`,
    );
  const url = new URL(feedAddress(facts.pinned, facts, request, version));
  return { version, url, digest: undefined, releasesBehind: null };
}
