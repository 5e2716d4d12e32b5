// Releases of repositories: assets by pattern and architecture, sources of tags, branches and commits, checksums, and
// releases that are hostile, missing or for another machine.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { GithubReleases } from '../../../plugins/install-github-release/github-releases.ts';
import type { FileAnswers, ServedFile } from '../../contracts/file-server.ts';
import { holdInstallSource, type RefusedCase } from '../../contracts/install-source.ts';
import { tar, zip } from '../../support/archive-bytes.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const REPO = '/repos/owner/program';
const program = gzipSync(
  tar([
    { name: 'program', content: '#!/bin/sh', mode: 0o755 },
    { name: 'LICENSE', content: 'free' },
  ]),
);
const older = gzipSync(tar([{ name: 'program', content: '#!/bin/sh old', mode: 0o755 }]));
const sources = zip([
  { name: 'owner-program-0123456/', mode: 0o040755 },
  { name: 'owner-program-0123456/main.py', content: 'print()' },
  { name: 'owner-program-0123456/src/app.py', content: 'app' },
]);
const SOURCE_FILES = { 'main.py': 'print()', 'src/app.py': 'app' };
const sum = (bytes: Buffer | string, algorithm = 'sha256') => createHash(algorithm).update(bytes).digest('hex');
/** The part of an ELF header that names the machine. */
const elf = (machine: number) =>
  Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), Buffer.alloc(11), Buffer.from([machine, 0, 0, 0])]);

interface Listed {
  readonly files?: Readonly<Record<string, { body: Buffer | string; digest?: string }>>;
  readonly prerelease?: boolean;
  readonly draft?: boolean;
  readonly day?: number;
  readonly notes?: string;
}

function release(base: string, tag: string, { files = {}, prerelease = false, draft = false, day = 1, notes }: Listed) {
  return {
    tag_name: tag,
    html_url: notes ?? `https://github.com/owner/program/releases/tag/${tag}`,
    draft,
    prerelease,
    published_at: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
    assets: Object.entries(files).map(([name, { digest }], index) => ({
      id: day * 100 + index,
      name,
      browser_download_url: `${base}/download/${tag}/${name}`,
      ...(digest === undefined ? {} : { digest }),
    })),
  };
}

const files = (tag: string, body = program) => ({
  [`program_${tag}_linux_x86_64.tar.gz`]: { body },
  [`program_${tag}_linux_arm64.tar.gz`]: { body: older },
  'checksums.txt': {
    body: `${sum(body)}  program_${tag}_linux_x86_64.tar.gz\n${sum(older)} *program_${tag}_linux_arm64.tar.gz\n`,
  },
});

const RELEASES: readonly (readonly [string, Listed])[] = [
  ['v2.0.0-rc.1', { day: 9, prerelease: true, files: files('v2.0.0-rc.1') }],
  ['nightly-20260108', { day: 8, prerelease: true, files: files('nightly-20260108') }],
  ['v3.0.0', { day: 7, draft: true, files: files('v3.0.0') }],
  ['v1.2.0', { day: 6, files: files('v1.2.0') }],
  ['v1.1.0', { day: 5, files: files('v1.1.0') }],
  ['v1.0.0', { day: 4, files: files('v1.0.0', older) }],
];

/** A server with these releases; `changes` replace answers by path. */
function serving(
  listed: readonly (readonly [string, Listed])[] = RELEASES,
  changes: (base: string) => Readonly<Record<string, ServedFile>> = () => ({}),
) {
  return (base: string): FileAnswers => {
    const all = listed.map(([tag, one]) => release(base, tag, one));
    const stable = all.find(({ draft, prerelease }) => !draft && !prerelease);
    const answers: Record<string, ServedFile> = {
      [`${REPO}/releases?per_page=100`]: { body: all },
      ...(stable === undefined ? {} : { [`${REPO}/releases/latest`]: { body: stable } }),
      [`${REPO}/git/ref/tags/v0.9`]: { body: { ref: 'refs/tags/v0.9' } },
      [`${REPO}/zipball/refs/tags/v0.9`]: { status: 302, headers: { location: '/codeload/v0.9.zip' } },
      '/codeload/v0.9.zip': { body: sources },
      [`${REPO}/branches/feature%2Fx`]: { body: { commit: { sha: SHA } } },
      [`${REPO}/commits/0123456`]: { body: { sha: SHA } },
      [`${REPO}/zipball/${SHA}`]: { body: sources },
    };
    for (const [index, [tag, { files: some = {} }]] of listed.entries()) {
      answers[`${REPO}/releases/tags/${tag}`] = { body: all[index] };
      answers[`${REPO}/zipball/refs/tags/${tag}`] = { body: sources };
      for (const [name, { body }] of Object.entries(some)) answers[`/download/${tag}/${name}`] = { body };
    }
    const changed = { ...answers, ...changes(base) };
    return ({ path }) => changed[path];
  };
}

const one = (listed: Listed) => serving([['v1.2.0', listed]]);
const notes = (tag: string) => `https://github.com/owner/program/releases/tag/${tag}`;
const usual = (base: string) => ({
  api: base,
  owner: 'owner',
  repository: 'program',
  assets: ['program_{tag}_linux_{arch}.tar.gz', 'program-{version}-{goarch}.tgz'],
  words: { arch: { amd64: 'x86_64', arm64: 'arm64' }, goarch: { amd64: 'amd64', arm64: 'arm64' } },
  checksums: 'checksums.txt',
  paths: { program: 'program' },
});
const asSources = { assets: undefined, checksums: undefined, paths: undefined };
const bare = {
  assets: ['program-linux-{goarch}'],
  checksums: undefined,
  paths: { 'program-linux-{goarch}': 'program' },
};
const unchecked = { checksums: undefined };

function hostile(): RefusedCase[] {
  const file = 'program_v1.2.0_linux_x86_64.tar.gz';
  const told = (what: string, url: string, message: RegExp): RefusedCase => ({
    what,
    facts: unchecked,
    answers: base => {
      const body = release(base, 'v1.2.0', { files: { [file]: { body: program } } });
      const assets = body.assets.map(asset => ({ ...asset, browser_download_url: url }));
      return serving([], () => ({ [`${REPO}/releases/latest`]: { body: { ...body, assets } } }))(base);
    },
    status: 502,
    message,
    beforeFetch: false,
  });
  const tagged = (what: string, tag: string): RefusedCase => ({
    what,
    answers: base =>
      serving([], () => ({ [`${REPO}/releases/latest`]: { body: release(base, tag, { files: files(tag) }) } }))(base),
    status: 502,
    message: /did not answer with the latest release of owner\/program/,
  });
  return [
    told('an asset of another scheme', 'file:///etc/passwd', /leads to "file:.*which is no plain/),
    told('an asset without encryption', 'http://localhost/x', /gives programs by http/),
    told('an asset with a user', 'https://u:p@localhost/x', /which is no plain/),
    told('an asset with control characters', 'https://localhost/\u0007', /which is no plain/),
    ...['https://127.0.0.1/x', 'https://localhost/x', 'https://[::1]/x', 'https://169.254.169.254/x'].map(url =>
      told('an asset in this machine', url, /is no machine of the internet/),
    ),
    told('an asset with data', 'data:,x', /leads to/),
    tagged('a tag with control characters', 'v1\u001b[2J'),
    tagged('a tag of two lines', 'v1\nv2'),
    tagged('a tag that leads up', '../../etc'),
    tagged('a tag without end', 'v'.repeat(5_000)),
    {
      what: 'a list of which nothing is a release',
      selector: { kind: 'prerelease' },
      answers: serving([['../up', {}]]),
      status: 502,
      message: /did not answer with the releases of owner\/program/,
    },
    {
      what: 'an asset whose name leads up',
      facts: { ...unchecked, assets: ['*program.tar.gz'] },
      answers: one({ files: { '../../program.tar.gz': { body: program } } }),
      status: 502,
      message: /has no file \*program.tar.gz: it has none/,
    },
    {
      what: 'a deep answer',
      answers: serving([], () => ({
        [`${REPO}/releases/latest`]: { body: `${'['.repeat(200)}${']'.repeat(200)}` },
      })),
      status: 502,
      message: /did not answer with/,
    },
  ];
}

holdInstallSource(t, host => new GithubReleases(host, () => ({ token: '', maxWaitS: 0 })), {
  facts: usual,
  answers: serving(),
  fetched: [
    { version: 'v1.2.0', notesUrl: notes('v1.2.0'), files: { program: '#!/bin/sh' }, maxRequests: 4 },
    {
      what: 'two behind',
      installedVersion: 'v1.0.0',
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      releasesBehind: 2,
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'installed, told without its v',
      installedVersion: '1.2.0',
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      releasesBehind: 0,
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'another architecture',
      architecture: 'arm64',
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: '#!/bin/sh old' },
    },
    {
      what: 'a pinned version without its v',
      selector: { kind: 'pinned', version: '1.0.0' },
      version: 'v1.0.0',
      notesUrl: notes('v1.0.0'),
      files: { program: '#!/bin/sh old' },
    },
    {
      what: 'a prerelease',
      selector: { kind: 'prerelease' },
      installedVersion: 'v1.2.0',
      version: 'v2.0.0-rc.1',
      notesUrl: notes('v2.0.0-rc.1'),
      releasesBehind: 1,
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a prerelease beside releases whose tags are of another form',
      selector: { kind: 'prerelease' },
      answers: serving([['@scope/part@2.0.0', { day: 10 }], ...RELEASES]),
      version: 'v2.0.0-rc.1',
      notesUrl: notes('v2.0.0-rc.1'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a prerelease that has become a release',
      selector: { kind: 'prerelease' },
      answers: serving([
        ['v1.9.0-rc.1', { day: 2, prerelease: true, files: files('v1.9.0-rc.1', older) }],
        ['v1.9.0', { day: 3, files: files('v1.9.0') }],
      ]),
      version: 'v1.9.0',
      notesUrl: notes('v1.9.0'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'the latest where all are prereleases',
      answers: serving([['v0.9.3-final', { prerelease: true, files: files('v0.9.3-final') }]]),
      version: 'v0.9.3-final',
      notesUrl: notes('v0.9.3-final'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a nightly release',
      selector: { kind: 'nightly' },
      version: 'nightly-20260108',
      notesUrl: notes('nightly-20260108'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a file with the second name',
      facts: unchecked,
      answers: one({ files: { 'Program-1.2.0-AMD64.tgz': { body: program } } }),
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a file whose name holds anything',
      facts: { ...unchecked, assets: ['program.*.linux-{goarch}*.tar.gz'], paths: undefined },
      answers: one({ files: { 'program.main.1.2.0.linux-amd64-core.tar.gz': { body: program } } }),
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: '#!/bin/sh', LICENSE: 'free' },
    },
    {
      what: 'a program without an archive',
      facts: bare,
      answers: one({ files: { 'program-linux-amd64': { body: elf(62) } } }),
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: elf(62).toString() },
    },
    {
      what: 'a sum of the API',
      facts: unchecked,
      answers: one({ files: { 'program-1.2.0-amd64.tgz': { body: program, digest: `sha256:${sum(program)}` } } }),
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'a longer sum',
      answers: one({
        files: {
          'program-1.2.0-amd64.tgz': { body: program },
          'checksums.txt': { body: `${sum(program, 'sha512').toUpperCase()}  program-1.2.0-amd64.tgz\r\n` },
        },
      }),
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: { program: '#!/bin/sh' },
    },
    {
      what: 'the sources of the latest release',
      facts: asSources,
      version: 'v1.2.0',
      notesUrl: notes('v1.2.0'),
      files: SOURCE_FILES,
      maxRequests: 3,
    },
    {
      what: 'the sources of a tag without a release',
      facts: asSources,
      selector: { kind: 'release', release: 'v0.9' },
      version: 'v0.9',
      files: SOURCE_FILES,
    },
    {
      what: 'a branch',
      selector: { kind: 'branch', branch: 'feature/x' },
      version: 'feature/x-0123456789ab',
      files: SOURCE_FILES,
    },
    {
      what: 'a commit',
      selector: { kind: 'commit', commit: '0123456' },
      version: 'commit-0123456789ab',
      files: SOURCE_FILES,
    },
  ],
  refused: [
    ...hostile(),
    {
      what: 'an architecture without a word',
      architecture: 'arm',
      status: 400,
      message: /Program is published for amd64, arm64, not for arm; run it on another machine/,
    },
    {
      what: 'a file that was renamed',
      answers: one({ files: { 'programme-linux-64bit.tar.gz': { body: program } } }),
      status: 502,
      message:
        /^The release v1\.2\.0 of Program has no file program_v1\.2\.0_linux_x86_64\.tar\.gz or program-1\.2\.0-amd64\.tgz: it has programme-linux-64bit\.tar\.gz; choose another release, or try again later$/,
    },
    {
      what: 'a wrong sum',
      answers: one({
        files: {
          'program-1.2.0-amd64.tgz': { body: program },
          'checksums.txt': { body: `${sum(older)}  program-1.2.0-amd64.tgz\n` },
        },
      }),
      status: 502,
      message: /is not what its publisher says/,
      beforeFetch: false,
    },
    {
      what: 'a wrong sum of the API',
      facts: unchecked,
      answers: one({ files: { 'program-1.2.0-amd64.tgz': { body: program, digest: `sha256:${sum(older)}` } } }),
      status: 502,
      message: /is not what its publisher says/,
      beforeFetch: false,
    },
    ...(['sha256', 'sha512'] as const).map(algorithm => ({
      what: `a wrong sum of the API beside a right ${algorithm} of the release`,
      answers: one({
        files: {
          'program-1.2.0-amd64.tgz': { body: program, digest: `sha256:${sum(older)}` },
          'checksums.txt': { body: `${sum(program, algorithm)}  program-1.2.0-amd64.tgz\n` },
        },
      }),
      status: 502,
      message: /is not what its publisher says/,
      beforeFetch: false,
    })),
    {
      what: 'a wrong sum of the release beside a right one of the API',
      answers: one({
        files: {
          'program-1.2.0-amd64.tgz': { body: program, digest: `sha256:${sum(program)}` },
          'checksums.txt': { body: `${sum(older)}  program-1.2.0-amd64.tgz\n` },
        },
      }),
      status: 502,
      message: /is not what its publisher says/,
      beforeFetch: false,
    },
    {
      what: 'no sum of the file',
      answers: one({
        files: { 'program-1.2.0-amd64.tgz': { body: program }, 'checksums.txt': { body: `${sum(program)}  other\n` } },
      }),
      status: 502,
      message: /checksums\.txt of .* tells no sum of program-1\.2\.0-amd64\.tgz; choose another release/,
      beforeFetch: false,
    },
    {
      what: 'no sums',
      answers: one({ files: { 'program-1.2.0-amd64.tgz': { body: program } } }),
      status: 502,
      message: /has no checksums\.txt, by which it is checked/,
      beforeFetch: false,
    },
    {
      what: 'a program for another machine',
      facts: bare,
      answers: one({ files: { 'program-linux-amd64': { body: elf(183) } } }),
      status: 502,
      message: /is a program for another kind of machine than amd64; choose another release/,
      beforeFetch: false,
    },
    {
      what: 'a page instead of a program',
      facts: bare,
      answers: one({ files: { 'program-linux-amd64': { body: '<html>' } } }),
      status: 502,
      message: /is no program; choose another release/,
      beforeFetch: false,
    },
    {
      what: 'a hostile archive',
      facts: { ...unchecked, paths: undefined },
      answers: one({ files: { 'program-1.2.0-amd64.tgz': { body: gzipSync(tar([{ name: '../x', content: 'x' }])) } } }),
      status: 502,
      message: /leads out of the folder/,
      beforeFetch: false,
    },
    {
      what: 'an archive without the program',
      facts: unchecked,
      answers: one({ files: { 'program-1.2.0-amd64.tgz': { body: gzipSync(tar([{ name: 'x', content: 'x' }])) } } }),
      status: 502,
      message: /holds nothing of the program/,
      beforeFetch: false,
    },
    {
      what: 'a tag that is not there',
      selector: { kind: 'release', release: 'v9.9.9' },
      status: 400,
      message: /^owner\/program has no release v9\.9\.9; correct release_version, or repo_owner and repo_name$/,
    },
    {
      what: 'a tag that is none',
      selector: { kind: 'pinned', version: '../../x' },
      status: 400,
      message: /is the tag of no release; correct pinned_version/,
    },
    {
      what: 'a branch that is not there',
      selector: { kind: 'branch', branch: 'gone' },
      status: 400,
      message: /has no branch gone; correct the option branch/,
    },
    {
      what: 'a commit that is not there',
      selector: { kind: 'commit', commit: 'fffffff' },
      status: 400,
      message: /has no commit fffffff; correct commit_sha/,
    },
    {
      what: 'a commit that is none',
      selector: { kind: 'commit', commit: 'main' },
      status: 400,
      message: /is no commit; correct commit_sha/,
    },
    {
      what: 'no nightly release',
      selector: { kind: 'nightly' },
      answers: one({ files: files('v1.2.0') }),
      status: 400,
      message: /has published no nightly; select latest, or a release/,
    },
    {
      what: 'nightly releases of a private repository without a token',
      selector: { kind: 'nightly' },
      facts: { privateRepository: 'secret' },
      status: 400,
      message: /owner\/secret is a private repository; give github_token/,
    },
    {
      what: 'a repository that is not there',
      answers: () => () => ({ status: 404, body: { message: 'Not Found' } }),
      status: 502,
      message:
        /has no repository owner\/program for us \(404\); correct repo_owner and repo_name, or give github_token/,
    },
    {
      what: 'names of no repository',
      facts: { owner: '../..' },
      status: 400,
      message: /is the name of no repository; correct repo_owner/,
    },
  ],
});
