// Installs programs from container images. Only the paths that the template names are unpacked from the layers.
import { type Host, Problem } from '#core';
import type {
  AvailableRelease,
  FetchedRelease,
  FetchRequest,
  InstallSource,
  SourceRequest,
} from '../installs/contract.ts';
import { imageFacts } from './image-facts.ts';
import type { ImageDescriptor } from './manifest.ts';
import { type PublishedImage, publishedImage } from './published-image.ts';

/** The types of usable layers. Encrypted layers, and those that are not stored in the registry, have other types. */
const LAYER_TYPE =
  /^application\/vnd\.(oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)([+.](gzip|zstd))?$/;

export class OciImages implements InstallSource {
  readonly source = 'oci-image';
  readonly #host: Pick<Host, 'use'>;

  constructor(host: Pick<Host, 'use'>) {
    this.#host = host;
  }

  async latest(request: SourceRequest): Promise<AvailableRelease> {
    const { version } = await publishedImage(request);
    return { version, notesUrl: null, releasesBehind: null };
  }

  async fetch(request: FetchRequest): Promise<FetchedRelease> {
    const { paths } = imageFacts.parse(request.facts);
    request.report({ text: 'asks the registry', percent: null });
    const image = await publishedImage(request);
    const archive = await downloadLayers(request, image);
    request.report({ text: 'unpacks the image', percent: 0 });
    const { files } = await this.#host.use('archives').unpack({
      archive,
      into: request.into,
      user: request.user,
      take: Object.entries(paths).map(([from, to]) => ({ from, to })),
      maxBytes: request.maxBytes,
      signal: request.signal,
      onProgress: ({ doneBytes, totalBytes }) =>
        request.report({ text: 'unpacks the image', percent: Math.floor((100 * doneBytes) / Math.max(1, totalBytes)) }),
    });
    const { version, reference, digest } = image;
    if (files === 0)
      throw new Problem(502, `The image ${reference} holds nothing of the program; select another version`);
    return { version, files: { 'install-selector.txt': `${reference}\n`, 'image-digest.txt': `${digest}\n` } };
  }
}

/** The downloaded files of the layers, lowest first. A layer that occurs twice is downloaded once. */
async function downloadLayers(request: FetchRequest, { registry, manifest }: PublishedImage): Promise<string[]> {
  const layers = new Map(manifest.layers.map(layer => [layer.digest, layer]));
  for (const layer of layers.values()) checkLayer(layer);
  const sizeBytes = [...layers.values()].reduce((sum, { size }) => sum + size, 0);
  if (sizeBytes > request.maxBytes)
    throw new Problem(
      502,
      `The image has ${sizeBytes} bytes, more than the ${request.maxBytes} that are allowed; select another version`,
    );
  await request.needSpace(sizeBytes);
  const files = new Map<string, string>();
  for (const { digest, size } of layers.values()) {
    const name = `layer-${files.size + 1}-of-${layers.size}.tar`;
    const hex = digest.slice('sha256:'.length);
    const options = {
      name,
      headers: () => registry.headers(),
      digest: { algorithm: 'sha256', hex },
      maxBytes: size,
    } as const;
    files.set(digest, await request.download(registry.blobUrl(digest).href, options));
  }
  return manifest.layers.map(({ digest }) => files.get(digest) ?? '');
}

function checkLayer({ mediaType }: ImageDescriptor): void {
  if (LAYER_TYPE.test(mediaType)) return;
  const shown = JSON.stringify(mediaType.slice(0, 100));
  throw new Problem(
    502,
    `The image has a layer of the type ${shown}, which cannot be unpacked; select another version`,
  );
}
