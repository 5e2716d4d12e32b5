// Container images made of files, and a registry that gives them only to callers with the token that it issues.
import { createHash } from 'node:crypto';
import type { FileAnswers, ServedFile } from '../contracts/file-server.ts';
import { type ArchiveFiles, tarGzipOf } from './archive-files.ts';

export interface Image {
  readonly manifest: string;
  readonly digest: string;
  readonly blobs: ReadonlyMap<string, Buffer>;
}

export interface ImageOptions {
  readonly architecture?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly layerType?: string;
}

export const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip';
export const TOKEN = 'registry-t0ken';

export function digestOf(bytes: Buffer | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export async function imageOf(
  layers: readonly ArchiveFiles[],
  { architecture = 'amd64', labels = {}, layerType = LAYER_TYPE }: ImageOptions = {},
): Promise<Image> {
  const blobs = new Map<string, Buffer>();
  const keep = (bytes: Buffer, mediaType: string) => {
    const digest = digestOf(bytes);
    blobs.set(digest, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const config = keep(
    Buffer.from(JSON.stringify({ architecture, os: 'linux', config: { Labels: labels } })),
    'application/vnd.oci.image.config.v1+json',
  );
  const described = [];
  for (const layer of layers) described.push(keep(await tarGzipOf(layer), layerType));
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: described,
  });
  return { manifest, digest: digestOf(manifest), blobs };
}

/** An index of images, which are given by `architecture` or `architecture/variant`. */
export function indexOf(images: Readonly<Record<string, Image>>): string {
  const manifests = Object.entries(images).map(([platform, { manifest, digest }]) => {
    const [architecture, variant] = platform.split('/');
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    return { mediaType, digest, size: manifest.length, platform: { os: 'linux', architecture, variant } };
  });
  const attestation = { ...manifests[0], platform: { os: 'unknown', architecture: 'unknown' } };
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [attestation, ...manifests],
  });
}

export interface RegistryContent {
  /** Name of the repository, as in `owner/program`. */
  readonly image: string;
  /** Texts of manifests and indexes by tag. */
  readonly tags: Readonly<Record<string, string>>;
  readonly images: readonly Image[];
  /** Answers for a blob instead; undefined serves the blob. */
  readonly blob?: (digest: string, bytes: Buffer) => ServedFile | undefined;
}

/** The answers of a registry at `base`; its tokens are at `/token`. */
export function registryAnswers(base: string, { image, tags, images, blob }: RegistryContent): FileAnswers {
  const documents = new Map<string, string>(Object.entries(tags));
  const blobs = new Map<string, Buffer>();
  for (const text of Object.values(tags)) documents.set(digestOf(text), text);
  for (const { manifest, digest, blobs: own } of images) {
    documents.set(digest, manifest);
    for (const [name, bytes] of own) blobs.set(name, bytes);
  }
  const scope = `repository:${image}:pull`;
  return ({ path: asked, headers }) => {
    const { pathname, searchParams } = new URL(asked, 'https://registry');
    if (pathname === '/token') {
      const isRight = searchParams.get('scope') === scope && searchParams.get('service') === 'the registry';
      return isRight ? { body: { token: TOKEN, expires_in: 60 } } : { status: 400 };
    }
    const [, name, kind, reference = ''] = /^\/v2\/(?:(.+)\/(manifests|blobs)\/(.+))?$/.exec(pathname) ?? [];
    if (headers.authorization !== `Bearer ${TOKEN}`) {
      const challenge = `Bearer realm="${base}/token",service="the registry",scope="${scope}"`;
      return { status: 401, headers: { 'www-authenticate': challenge }, body: { errors: [{ code: 'UNAUTHORIZED' }] } };
    }
    if (name !== image) return undefined;
    if (kind === 'manifests') {
      const text = documents.get(reference);
      if (text === undefined) return { status: 404, body: { errors: [{ code: 'MANIFEST_UNKNOWN' }] } };
      const { mediaType } = JSON.parse(text) as { mediaType: string };
      return { headers: { 'content-type': mediaType, 'docker-content-digest': digestOf(text) }, body: text };
    }
    const bytes = kind === 'blobs' ? blobs.get(reference) : undefined;
    return bytes && (blob?.(reference, bytes) ?? { body: bytes });
  };
}
