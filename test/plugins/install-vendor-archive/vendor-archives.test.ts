// Archives of vendors: from XML feeds, lists with hashes, redirects and fallbacks; and hostile or broken feeds.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import { VendorArchives } from '../../../plugins/install-vendor-archive/vendor-archives.ts';
import type { InstallSource } from '../../../plugins/installs/contract.ts';
import type { FileAnswers, ServedFile, ServerFault } from '../../contracts/file-server.ts';
import { holdInstallSource, type RefusedCase } from '../../contracts/install-source.ts';
import { debOf, tarGzipOf } from '../../support/archive-files.ts';
import { digestOf } from '../../support/oci-image.ts';

const ARCH = { amd64: 'x64', arm64: 'arm64', arm: 'arm' };
const pinned = (version: string) => ({ kind: 'pinned', version }) as const;
const hexOf = (bytes: Buffer) => digestOf(bytes).slice('sha256:'.length);

/** A server with answers by path, some of which can be replaced. */
const serve =
  (usual: (base: string) => Readonly<Record<string, ServedFile | ServerFault>>) =>
  (changes: (base: string) => Readonly<Record<string, ServedFile | ServerFault>> = () => ({})) =>
  (base: string): FileAnswers => {
    const answers = { ...usual(base), ...changes(base) };
    return ({ path }) => answers[path];
  };

const deb = await debOf(
  {
    'usr/lib/mediaserver/Media Server': '#!/bin/sh',
    'usr/lib/mediaserver/lib/libmedia.so': 'so',
    'usr/lib/mediaserver/libmedia.so': '-> /usr/lib/mediaserver/lib/libmedia.so',
    'lib/systemd/system/mediaserver.service': 'not wanted',
    'DEBIAN/postinst': '#!/bin/sh\ntouch /tmp/a-script-of-a-package-was-run',
  },
  { name: 'mediaserver' },
);
const debFiles = {
  'Media Server': '#!/bin/sh',
  'lib/libmedia.so': 'so',
  'libmedia.so': '-> lib/libmedia.so',
};
const xml = (version: string, url: string) =>
  `<?xml version="1.0" encoding="utf-8"?>\n<MediaContainer size="1">\n<Release title="a &gt; b" version="${version}">
   <Package build='linux-x86_64' url="${url}" fileName=""/></Release></MediaContainer>`;
const tar = await tarGzipOf({ 'Manager/Manager': '#!/bin/sh', 'Manager/Core.dll': 'dll' });
const tarFiles = { 'Manager/Manager': '#!/bin/sh', 'Manager/Core.dll': 'dll' };
/** A stand-in for the source of releases that are selected by their tag. */
const github: InstallSource = {
  source: 'github-release',
  latest: async ({ facts }) => ({ version: 'v4.0.1', notesUrl: null, releasesBehind: Object.keys(facts).length }),
  fetch: async () => ({ version: 'v4.0.1' }),
};
const TOKEN = 'of-its-owner';
const open = (host: Pick<Host, 'use'>) =>
  new VendorArchives({
    use: host.use,
    find: (() => ({ values: async () => ({ Preferences: { '@Token': TOKEN } }) })) as never,
    contributions: () => new Map([['github-release', { owner: 'x', key: 'github-release', value: github }]]) as never,
  });
const FEED = '/feed?build=linux-x86_64&channel=16';
const withXml = serve(base => ({
  [FEED]: { body: xml('1.41.0.8994-f2c27da23', `${base}/new/media_1.41.0.8994_amd64.deb`) },
  '/new/media_1.41.0.8994_amd64.deb': { body: deb },
  '/pinned/1.40.0%2Bb1/media_amd64.deb': { body: deb },
}));

function hostileXml(): RefusedCase[] {
  const hostile = (what: string, text: string, message: RegExp) => ({
    what,
    answers: withXml(() => ({ [FEED]: { body: text } })),
    status: 502,
    message,
  });
  return [
    ...['file:///etc/passwd', 'ftp://files.example/a.deb', 'data:,x', 'https://u:p@files.example/a.deb'].map(url =>
      hostile(url, xml('1.41', url), /^vendor\.example leads to ".+", which is no plain http or https address/),
    ),
    hostile('control characters', xml('1.41', 'https://files.example/a\u0007.deb'), /which is no plain/),
    ...[
      'https://127.0.0.1:1/a.deb',
      'https://[::1]/a.deb',
      'https://169.254.169.254/a.deb',
      'https://localhost/a.deb',
    ].map(url => ({ ...hostile(url, xml('1.41', url), /is no machine of the internet/), beforeFetch: false })),
    {
      ...hostile('http', xml('1.41', 'http://files.invalid/a.deb'), /gives programs by http/),
      beforeFetch: false,
    },
    hostile('a version with a path', xml('../../etc', 'https://files.example/a.deb'), /has no version/),
    hostile('a version of two lines', xml('1.41\n1.42', 'https://files.example/a.deb'), /has no version/),
    hostile('no release', '<MediaContainer/>', /has no Release@version/),
    hostile(
      'entities of its own',
      `<!DOCTYPE a [<!ENTITY b "c">]>${xml('1.41', 'https://files.example/&b;')}`,
      /did not answer with the XML/,
    ),
    hostile('JSON', '{"version": 1}', /did not answer with the XML/),
    hostile('tags without end', `<${'a b="'.repeat(200_000)}`, /has no Release@version/),
  ];
}

holdInstallSource(t, open, {
  facts: base => ({
    words: { build: { amd64: 'linux-x86_64', arm64: 'linux-aarch64' }, deb_arch: { amd64: 'amd64', arm64: 'arm64' } },
    feed: { url: `${base}/feed?build={build}&channel=16`, version: 'Release@version', archive: 'Package@url' },
    pinned: `${base}/pinned/{version}/media_{deb_arch}.deb`,
    paths: { 'usr/lib/mediaserver/': '' },
  }),
  answers: withXml(),
  fetched: [
    { version: '1.41.0.8994-f2c27da23', files: debFiles, maxRequests: 3 },
    { what: 'pinned', selector: pinned('1.40.0+b1'), version: '1.40.0+b1', files: debFiles, maxRequests: 1 },
    {
      what: 'with the token of its owner',
      facts: {
        feed: {
          url: 'https://vendor.example/feed?build={build}&channel=16',
          version: 'Release@version',
          archive: 'Package@url',
          token: { header: 'X-Media-Token', file: 'preferences.xml', member: ['Preferences', '@Token'] },
        },
      },
      answers: base => request =>
        request.headers['x-media-token'] === TOKEN
          ? { body: xml('1.42', 'https://files.example/a.deb') }
          : withXml()(base)(request),
      elsewhere: ({ path }) => (path === '/a.deb' ? { body: deb } : undefined),
      secretHeaders: ['x-media-token'],
      version: '1.42',
      files: debFiles,
    },
    {
      what: 'relative, with entities',
      answers: withXml(() => ({
        [FEED]: { body: xml('1.41', '../a.deb?x=1&amp;y=&quot;') },
        '/a.deb?x=1&y=%22': { body: deb },
      })),
      version: '1.41',
      files: debFiles,
    },
  ],
  refused: [
    {
      what: 'another architecture',
      architecture: 'arm',
      status: 400,
      message: /published for amd64, arm64, not for arm/,
    },
    {
      what: 'no version',
      selector: pinned('1 2/../3'),
      status: 400,
      message: /"1 2\/..\/3" is no version; correct pinned_version/,
    },
    {
      what: 'a branch',
      selector: { kind: 'branch', branch: 'main' },
      status: 400,
      message: /there is no branch of it; select/,
    },
    { what: 'a prerelease', selector: { kind: 'prerelease' }, status: 400, message: /there is no prerelease of it/ },
    {
      what: 'an archive for another architecture',
      answers: withXml(base => ({ [FEED]: { body: xml('1.41', `${base}/media_1.41_arm64.deb`) } })),
      status: 502,
      message: /media_1.41_arm64.deb for amd64, which is made for another architecture/,
    },
    ...hostileXml(),
    {
      what: 'an archive that is gone',
      answers: withXml(base => ({ [FEED]: { body: xml('1.41', `${base}/gone_amd64.deb`) } })),
      beforeFetch: false,
      status: 502,
      message: /404/,
    },
    {
      what: 'an archive that is none',
      answers: withXml(() => ({ '/new/media_1.41.0.8994_amd64.deb': { body: '<html>' } })),
      beforeFetch: false,
      status: 502,
      message: /./,
    },
    {
      what: 'an archive of something else',
      answers: withXml(() => ({ '/new/media_1.41.0.8994_amd64.deb': { body: tar } })),
      beforeFetch: false,
      status: 502,
      message: /holds nothing of the program/,
    },
  ],
});

const release = (base: string, version: string, hash: string) => ({
  version,
  url: `${base}/files/Manager.${version}.linux-core-x64.tar.gz`,
  hash,
  changes: { new: ['a'], fixed: [] },
});
const withList = serve(base => ({
  '/changes?arch=x64': {
    body: [
      release(base, '4.0.9.100', hexOf(tar)),
      release(base, '4.0.10.2', hexOf(tar)),
      { ...release(base, '4.0.8.5', ''), hash: null },
    ],
  },
  '/files/Manager.4.0.10.2.linux-core-x64.tar.gz': { body: tar },
  '/files/Manager.4.0.9.100.linux-core-x64.tar.gz': { body: tar },
  '/files/Manager.4.0.8.5.linux-core-x64.tar.gz': { body: tar },
  '/updatefile?arch=x64': { status: 302, headers: { location: '/files/Manager.4.0.9.100.linux-core-x64.tar.gz' } },
  '/updatefile?arch=x64&version=3.0.0.1': {
    status: 302,
    headers: { location: '/files/Manager.4.0.8.5.linux-core-x64.tar.gz' },
  },
}));
const LIST = '/changes?arch=x64';

t.test('archives are found through lists and redirects', async t => {
  holdInstallSource(t, open, {
    facts: base => ({
      words: { arch: ARCH },
      changes: `${base}/changes?arch={arch}`,
      latest: `${base}/updatefile?arch={arch}`,
      fallback: `${base}/second?arch={arch}`,
      pinned: `${base}/updatefile?arch={arch}&version={version}`,
      release: { owner: 'owner', repository: 'manager', assets: ['Manager.*.{arch}.tar.gz'] },
    }),
    answers: withList(),
    fetched: [
      { version: '4.0.10.2', installedVersion: '4.0.8.5', releasesBehind: 2, files: tarFiles, maxRequests: 3 },
      { what: 'pinned, with a hash', selector: pinned('4.0.9.100'), version: '4.0.9.100', files: tarFiles },
      { what: 'pinned, without a hash', selector: pinned('4.0.8.5'), version: '4.0.8.5', files: tarFiles },
      { what: 'pinned, not in the list', selector: pinned('3.0.0.1'), version: '3.0.0.1', files: tarFiles },
      {
        what: 'by a tag',
        selector: { kind: 'release', release: 'v4.0.1' },
        version: 'v4.0.1',
        releasesBehind: 4,
        files: {},
      },
      {
        what: 'no list',
        answers: withList(() => ({ [LIST]: { status: 500 } })),
        version: '4.0.9.100',
        files: tarFiles,
      },
      {
        what: 'a list with an entry that is no release',
        answers: withList(base => ({
          [LIST]: { body: [{ version: 'soon', url: null }, release(base, '4.0.10.2', hexOf(tar))] },
        })),
        version: '4.0.10.2',
        files: tarFiles,
      },
      {
        what: 'an empty list',
        answers: withList(() => ({ [LIST]: { body: [] } })),
        version: '4.0.9.100',
        files: tarFiles,
      },
      {
        what: 'neither list nor newest',
        answers: withList(() => ({
          [LIST]: 'reset',
          '/updatefile?arch=x64': { status: 404 },
          '/second?arch=x64': { status: 301, headers: { location: '/files/Manager.4.0.8.5.linux-core-x64.tar.gz' } },
        })),
        version: '4.0.8.5',
        files: tarFiles,
      },
    ],
    refused: [
      {
        what: 'another archive than the list says',
        answers: withList(base => ({ [LIST]: { body: [release(base, '4.0.10.2', 'ab'.repeat(32))] } })),
        beforeFetch: false,
        status: 502,
        message: /is not what its publisher says \(sha256\)/,
      },
    ],
  });
});
