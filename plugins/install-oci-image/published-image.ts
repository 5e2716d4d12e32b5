// Finds the image that a block selects in its registry.
import { Problem } from '#core';
import type { InstallSelector, SourceRequest } from '../installs/contract.ts';
import { imageFacts } from './image-facts.ts';
import { isDigest, referencesOf } from './image-reference.ts';
import { type ImageManifest, imageFor, imageLabels, imageManifest } from './manifest.ts';
import { Registry, type RegistryDocument } from './registry.ts';

export interface PublishedImage {
  readonly registry: Registry;
  readonly manifest: ImageManifest;
  /** Digest of the manifest for this architecture. */
  readonly digest: string;
  /** The tag or digest by which the image was found. */
  readonly reference: string;
  readonly version: string;
}

const NUMBER = /^v?\d[\w.+-]{0,99}$/;
const SHOWN_DIGITS = 12;

/** Throws a Problem: 400 when nothing fits the selection, 502 or 504 when the registry's answer cannot be used. */
export async function publishedImage(request: SourceRequest): Promise<PublishedImage> {
  const { registry: host, image, reference: newest } = imageFacts.parse(request.facts);
  const registry = new Registry(request, `https://${host}`, image);
  const references = referencesOf(selectedText(request.selector, newest));
  const { reference, document } = await firstOf(registry, references, `${host}/${image}`);
  const name = `${host}/${image}:${reference}`;
  const chosen = imageFor(document.value, request.architecture, name);
  const own = chosen === undefined ? document : await registry.document(chosen);
  if (own === undefined) throw new Problem(502, `${host} lists an image of ${name} that it lacks; try again later`);
  const { digest, value } = own;
  const manifest = imageManifest(value, name);
  const labels = imageLabels(await registry.config(manifest.config), request.architecture, name);
  return { registry, manifest, digest, reference, version: versionOf(reference, digest, labels) };
}

function selectedText(selector: InstallSelector, newest: string): string {
  switch (selector.kind) {
    case 'latest':
      return newest;
    case 'release':
      return selector.release;
    case 'pinned':
      return selector.version;
    case 'branch':
      return selector.branch;
    case 'commit':
      return selector.commit;
    default:
      return selector.kind;
  }
}

async function firstOf(
  registry: Registry,
  references: readonly [string, ...string[]],
  name: string,
): Promise<{ readonly reference: string; readonly document: RegistryDocument }> {
  for (const reference of references) {
    const document = await registry.document(reference);
    if (document !== undefined) return { reference, document };
  }
  throw new Problem(400, `${name} has no image with the tag ${references[0]}; select one that it has, or latest`);
}

/**
 * The version of an image. A tag that is a number never moves, so it is the version. For other tags, such as `latest`,
 * it is the version label, otherwise the digest. In an image with the label `ref.name` the version label is that of its
 * base image, so it is not used.
 */
function versionOf(reference: string, digest: string, labels: Readonly<Record<string, string>>): string {
  if (NUMBER.test(reference) && !isDigest(reference)) return reference;
  const told = labels['org.opencontainers.image.version'] ?? '';
  if (NUMBER.test(told) && labels['org.opencontainers.image.ref.name'] === undefined) return told;
  const digits = digest.slice('sha256:'.length).slice(0, SHOWN_DIGITS);
  return isDigest(reference) ? digits : `${reference}-${digits}`;
}
