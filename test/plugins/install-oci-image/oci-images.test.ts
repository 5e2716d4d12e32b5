// Container images: by tag, digest and architecture, through tokens and redirects, with layers, and with every fault.
import t from 'tap';
import type { FetchOptions } from '../../../core/contract/fetch.ts';
import { OciImages } from '../../../plugins/install-oci-image/oci-images.ts';
import type { DownloadOptions } from '../../../plugins/installs/contract.ts';
import { cutOnce, type FileAnswers, type ServedFile, type ServerFault } from '../../contracts/file-server.ts';
import { ELSEWHERE, holdInstallSource } from '../../contracts/install-source.ts';
import {
  type Image,
  imageOf,
  indexOf,
  LAYER_TYPE,
  type RegistryContent,
  registryAnswers,
  TOKEN,
} from '../../support/oci-image.ts';

const VERSION = 'org.opencontainers.image.version';
const base = { 'bin/sh': '#!/bin/sh', 'app/old.js': 'old', 'app/lib/a.js': 'a', 'app/lib/b.js': 'b' };
const program = {
  'app/server.js': '#!/usr/bin/node',
  'app/.wh.old.js': '',
  'app/lib/.wh..wh..opq': '',
  'app/lib/c.js': 'c',
  'usr/local/lib/libfast.so.2': '-> libfast.so.2.1',
  'usr/local/lib/libfast.so.2.1': 'fast',
  'root/secret': 'not wanted',
};
const files = {
  'server.js': '#!/usr/bin/node',
  'lib/c.js': 'c',
  'native/libfast.so.2': '-> libfast.so.2.1',
  'native/libfast.so.2.1': 'fast',
};

const amd64 = await imageOf([base, program], { labels: { [VERSION]: '2.4.0' } });
const arm64 = await imageOf([{ 'app/server.js': 'arm64' }], { architecture: 'arm64', labels: { [VERSION]: '2.4.0' } });
const armV7 = await imageOf([{ 'app/server.js': 'arm v7' }], { architecture: 'arm' });
const armV6 = await imageOf([{ 'app/server.js': 'arm v6' }], { architecture: 'arm' });
const ofSystem = await imageOf([{ 'app/server.js': 'x' }], {
  labels: { [VERSION]: '24.04', 'org.opencontainers.image.ref.name': 'ubuntu' },
});
const empty = await imageOf([{ 'bin/sh': 'nothing of it' }]);
const encrypted = await imageOf([program], { layerType: `${LAYER_TYPE}+encrypted` });
const index = indexOf({ amd64, arm64, 'arm/v6': armV6, 'arm/v7': armV7 });
const images = [amd64, arm64, armV7, armV6, ofSystem, empty, encrypted];
const tags = {
  latest: index,
  'v2.4.0': index,
  '2.3.0': amd64.manifest,
  single: amd64.manifest,
  system: ofSystem.manifest,
  empty: empty.manifest,
  encrypted: encrypted.manifest,
  'only-arm': indexOf({ arm64 }),
  schema1: JSON.stringify({ schemaVersion: 1, mediaType: 'application/json', fsLayers: [] }),
};
const content = { image: 'owner/program', tags, images };
const serve = (changes: Partial<RegistryContent>) => (base: string) =>
  registryAnswers(base, { ...content, ...changes });
/** A registry with another answer for paths that contain `part`. */
const instead =
  (part: string, answer: ServedFile | ServerFault): ((base: string) => FileAnswers) =>
  base => {
    const usual = registryAnswers(base, content);
    return request => (request.path.includes(part) ? answer : usual(request));
  };
const challenged = (header: string): ServedFile => ({ status: 401, headers: { 'www-authenticate': header } });
const [configuration = '', firstLayer = ''] = amd64.blobs.keys();
const long = 'x'.repeat(5 * 1024 * 1024);
const release = (reference: string) => ({ kind: 'release', release: reference }) as const;
const texts = (reference: string, { digest }: Image) => ({
  'install-selector.txt': `${reference}\n`,
  'image-digest.txt': `${digest}\n`,
});

const elsewhere = (digest: string) =>
  digest === configuration ? undefined : { status: 307, headers: { location: `${ELSEWHERE}/${digest}` } };
const blobs: FileAnswers = ({ path }) => ({ body: amd64.blobs.get(path.slice(1)), headers: { etag: '"blob"' } });

holdInstallSource(t, host => new OciImages(host), {
  facts: base => ({
    registry: new URL(base).host,
    image: 'owner/program',
    paths: { 'app/': '', 'usr/local/lib/libfast.so.2*': 'native/', 'opt/absent/': 'absent/' },
  }),
  answers: serve({}),
  fetched: [
    // A challenge, a token, index, manifest and configuration twice, and two layers.
    { version: '2.4.0', files, texts: texts('latest', amd64), maxRequests: 12 },
    { version: '2.4.0', architecture: 'arm64', files: { 'server.js': 'arm64' }, texts: texts('latest', arm64) },
    {
      what: 'the best of several kinds of processors',
      version: `latest-${armV7.digest.slice(7, 19)}`,
      architecture: 'arm',
      files: { 'server.js': 'arm v7' },
    },
    {
      what: 'blobs elsewhere, without the token',
      answers: serve({ blob: elsewhere }),
      elsewhere: blobs,
      secretHeaders: ['authorization'],
      version: '2.4.0',
      files,
    },
    {
      what: 'blobs elsewhere that are cut off',
      answers: serve({ blob: elsewhere }),
      elsewhere: cutOnce(blobs),
      secretHeaders: ['authorization'],
      isResumed: true,
      version: '2.4.0',
      files,
    },
    {
      what: 'a registry that says who it is to everybody',
      answers: base => {
        const usual = registryAnswers(base, content);
        return request => (request.path === '/v2/' ? { body: {} } : usual(request));
      },
      version: '2.4.0',
      files,
    },
    {
      what: 'a registry without tokens',
      answers: base => {
        const usual = registryAnswers(base, content);
        return request =>
          usual({ ...request, headers: { ...request.headers, authorization: `Bearer ${TOKEN}` } }) ?? { body: {} };
      },
      version: '2.4.0',
      files,
    },
    { what: 'a tag without v', selector: release('2.4.0'), version: 'v2.4.0', files },
    { what: 'a tag with v', selector: { kind: 'pinned', version: 'v2.3.0' }, version: '2.3.0', files },
    { what: 'a branch', selector: { kind: 'branch', branch: 'single' }, version: '2.4.0', files },
    {
      what: 'a digest',
      selector: release(armV6.digest),
      architecture: 'arm',
      version: armV6.digest.slice(7, 19),
      files: { 'server.js': 'arm v6' },
    },
    {
      what: 'the version of the system that it was made from is not its own',
      selector: release('system'),
      version: `system-${ofSystem.digest.slice(7, 19)}`,
      files: { 'server.js': 'x' },
    },
  ],
  refused: [
    {
      what: 'no such tag',
      selector: release('9.9.9'),
      status: 400,
      message: /owner\/program has no image with the tag 9\.9\.9; select/,
    },
    {
      what: 'no tag',
      selector: release('../../etc'),
      status: 400,
      message: /"\.\.\/\.\.\/etc" is neither a tag nor a digest/,
    },
    {
      what: 'another architecture',
      selector: release('only-arm'),
      status: 400,
      message: /no image for amd64, but for "arm64"/,
    },
    {
      what: 'another architecture without an index',
      selector: release('single'),
      architecture: 'arm64',
      status: 400,
      message: /no image for arm64, but for "amd64"/,
    },
    { what: 'an old form', selector: release('schema1'), status: 502, message: /a form that is not known/ },
    {
      what: 'another manifest',
      answers: instead(amd64.digest, { body: arm64.manifest }),
      status: 502,
      message: /something else than the sha256:/,
    },
    { what: 'a manifest without end', answers: instead('/manifests/', 'endless'), status: 502, message: /larger than/ },
    { what: 'a long manifest', answers: instead('/manifests/', { body: long }), status: 502, message: /larger than/ },
    {
      what: 'deep JSON',
      answers: instead('/manifests/', { body: '['.repeat(100_000) }),
      status: 502,
      message: /did not describe/,
    },
    { what: 'no token', answers: instead('/token', { body: {} }), status: 502, message: /gave no token/ },
    {
      what: 'a token of two lines',
      answers: instead('/token', { body: { token: 'a\r\nhost: b' } }),
      status: 502,
      message: /gave no token/,
    },
    {
      what: 'an account',
      answers: instead('/v2/', challenged('Basic realm="x"')),
      status: 502,
      message: /refused owner\/program \(401\)/,
    },
    {
      what: 'a token by http',
      answers: instead('/v2/', challenged('Bearer realm="http://files.invalid/t"')),
      status: 502,
      message: /gives programs by http/,
    },
    {
      what: 'a token from this machine',
      answers: instead('/v2/', challenged('Bearer realm="https://127.0.0.1:1/t"')),
      status: 502,
      message: /is no machine of the internet/,
    },
    {
      what: 'a token from a file',
      answers: instead('/v2/', challenged('Bearer realm="file:///etc/passwd"')),
      status: 502,
      message: /no plain http or https address/,
    },
    {
      what: 'another layer',
      answers: serve({
        blob: (digest, body) => (digest === firstLayer ? { body: Buffer.alloc(body.length) } : undefined),
      }),
      beforeFetch: false,
      status: 502,
      message: /is not what its publisher says \(sha256\)/,
    },
    {
      what: 'a layer that is not there',
      answers: instead(firstLayer, { status: 404 }),
      beforeFetch: false,
      status: 502,
      message: /404/,
    },
    {
      what: 'an encrypted layer',
      selector: release('encrypted'),
      beforeFetch: false,
      status: 502,
      message: /tar\+gzip\+encrypted", which cannot/,
    },
    {
      what: 'nothing of the program',
      selector: release('empty'),
      beforeFetch: false,
      status: 502,
      message: /holds nothing of the program/,
    },
  ],
});

t.test('a resumed layer is requested with a valid token', async t => {
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  const answers = registryAnswers('https://registry.example.org', content);
  let given = 0;
  const fetch = async (address: string, { headers = {} }: FetchOptions = {}) => {
    const { host, pathname, search } = new URL(address);
    if (pathname === '/token') given += 1;
    const answer = answers({ method: 'GET', path: pathname + search, headers: { host, ...headers } });
    const { status = 200, headers: own = {}, body = '' } = typeof answer === 'object' ? answer : { status: 404 };
    const text = Buffer.isBuffer(body) || typeof body === 'string' ? String(body) : JSON.stringify(body);
    return { status, headers: own, text, json: () => JSON.parse(text) };
  };
  const seen: number[] = [];
  const download = async (_address: string, { headers }: DownloadOptions) => {
    for (let connection = 0; connection < 2; connection += 1) {
      await (typeof headers === 'function' ? headers() : headers);
      seen.push(given);
      performance.now = () => now.call(performance) + given * 3_600_000;
    }
    return '/layer';
  };
  const source = new OciImages({ use: () => ({ unpack: async () => ({ files: 1 }) }) } as never);
  const facts = { registry: 'registry.example.org', image: 'owner/program', paths: { app: '' } };
  const selector = { kind: 'release', release: 'single' };
  const request = { facts, selector, architecture: 'amd64', fetch, download, maxBytes: 2 ** 30 };
  await source.fetch({ ...request, needSpace: async () => undefined, report: () => undefined } as never);
  t.same(seen.slice(0, 2), [1, 2], 'the second one is a new one, an hour later');
});
