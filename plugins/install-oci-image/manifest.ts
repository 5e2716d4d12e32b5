// The documents of a registry: an index lists the images of one name by platform, a manifest the layers of one image.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '#core';
import type { Architecture } from '../installs/contract.ts';

/** The accepted types; the documents of Docker and of OCI differ only in these names. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const MAX_LAYERS = 200;
const MAX_IMAGES = 500;

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const size = z.int().min(0);
const descriptor = z.object({ mediaType: z.string().max(200), digest, size });
const platform = z.lazy(() => z.object({ os: z.string(), architecture: z.string(), variant: z.string().optional() }));
const index = z.lazy(() =>
  z.object({
    manifests: z.array(z.object({ digest, platform: platform.optional() })).max(MAX_IMAGES),
  }),
);
const manifest = z.lazy(() => z.object({ config: descriptor, layers: z.array(descriptor).min(1).max(MAX_LAYERS) }));
const config = z.lazy(() =>
  z.object({
    architecture: z.string(),
    config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
  }),
);

export type ImageDescriptor = z.output<typeof descriptor>;
export type ImageManifest = z.output<typeof manifest>;

/** Processor variants that each architecture runs, the best first. An image may name none. */
const VARIANTS: Readonly<Record<Architecture, readonly string[]>> = { amd64: [], arm64: ['v8'], arm: ['v7', 'v6'] };

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/**
 * The digest of the image for this architecture if the document is an index; undefined if it is something else, such as
 * a manifest. Throws a Problem 400 that names the offered architectures when none fits.
 */
export function imageFor(document: unknown, architecture: Architecture, name: string): string | undefined {
  const read = index.safeParse(document);
  if (!read.success) return undefined;
  const images = read.data.manifests.filter(({ platform: of }) => of?.os === 'linux');
  const order = [...VARIANTS[architecture], undefined];
  const [best] = images
    .filter(({ platform: of }) => of?.architecture === architecture && order.includes(of.variant))
    .sort((a, b) => order.indexOf(a.platform?.variant) - order.indexOf(b.platform?.variant));
  if (best !== undefined) return best.digest;
  throw otherArchitecture(
    architecture,
    images.map(({ platform: of }) => String(of?.architecture)),
    name,
  );
}

/** Throws a Problem 502 when the document is no manifest of an image. */
export function imageManifest(document: unknown, name: string): ImageManifest {
  const read = manifest.safeParse(document);
  if (read.success) return read.data;
  throw unknownForm(name);
}

/** The labels of an image, from its configuration. Throws a Problem 400 when it is made for another architecture. */
export function imageLabels(
  document: unknown,
  architecture: Architecture,
  name: string,
): Readonly<Record<string, string>> {
  const read = config.safeParse(document);
  if (!read.success) throw unknownForm(name);
  if (read.data.architecture !== architecture) throw otherArchitecture(architecture, [read.data.architecture], name);
  return read.data.config?.Labels ?? {};
}

function otherArchitecture(wanted: Architecture, offered: readonly string[], name: string): Problem {
  const known = [...new Set(offered)].slice(0, 10).map(architecture => JSON.stringify(architecture.slice(0, 20)));
  return new Problem(
    400,
    `${name} has no image for ${wanted}, but for ${known.join(', ') || 'nothing'}; select another version, ` +
      'or run it on a machine that it is made for',
  );
}

function unknownForm(name: string): Problem {
  return new Problem(502, `The registry describes ${name} in a form that is not known; select another version`);
}
