// Packages of a signed repository, installed into the machine and removed, and repositories that are false.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { AptPackages } from '../../../plugins/install-apt/apt-packages.ts';
import { compareVersions } from '../../../plugins/install-apt/debian-version.ts';
import { KEYS_FILE, KnownKeys } from '../../../plugins/install-apt/known-keys.ts';
import type { ServedFile } from '../../contracts/file-server.ts';
import { holdInstallSource } from '../../contracts/install-source.ts';
import { aptRepository, type PackageSpec, servedFiles, signingKey } from '../../support/apt-repository.ts';
import { testDir } from '../../support/directory.ts';
import { hasPackages, ownPackages } from '../../support/machine-packages.ts';

const run = promisify(execFile);
const skip = !hasPackages;
const NAMES = ['stackwarden-try', 'stackwarden-try-server', 'stackwarden-try-web', 'stackwarden-try-codec'];
const SERVER = '/usr/lib/stackwarden-try/server';
const WANTED = '/etc/systemd/system/multi-user.target.wants/stackwarden-try.service';
const unit = '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n';
/** Enables a unit at the first installation, as packages do. */
const enabling = '#!/bin/sh\ntest -n "$2" || systemctl enable stackwarden-try.service\n';

const specs = (version: string): PackageSpec[] => [
  { name: 'stackwarden-try', version, files: {}, depends: `stackwarden-try-server (= ${version})` },
  {
    name: 'stackwarden-try-server',
    version,
    files: {
      [SERVER.slice(1)]: `#!/bin/sh\n# ${version}`,
      'lib/systemd/system/stackwarden-try.service': unit,
      'DEBIAN/postinst': enabling,
    },
    depends: 'libc6, no-such-codec:any | stackwarden-try-codec (>= 2)',
  },
  { name: 'stackwarden-try-web', version, files: { 'usr/share/stackwarden-try/web/index.html': version } },
];
const codec = (version: string) => ({ name: 'stackwarden-try-codec', version, files: {} });

const key = skip ? undefined : await signingKey();
const other = skip ? undefined : await signingKey();
const configDir = testDir(t);
if (!skip) await ownPackages(t, NAMES);
t.teardown(async () => {
  await rm(WANTED, { force: true });
  await key?.end();
  await other?.end();
});

if (key !== undefined && other !== undefined) {
  const all = [...specs('1.2+deb12'), ...specs('1.10+deb12'), ...specs('1.10~rc1'), codec('1.9'), codec('2.0')];
  const good = await aptRepository(all, key);
  const incomplete = await aptRepository(
    all.filter(({ name }) => name !== 'stackwarden-try-web'),
    key,
  );
  const foreign = await aptRepository(all, other);
  const lacking = { name: 'stackwarden-try', version: '3.0', files: {}, depends: 'no-such-library' };
  const unmet = await aptRepository([lacking, ...specs('3.0').slice(1), codec('2.0')], key);
  const unsigned = { body: good.release() };
  const IN_RELEASE = '/dists/suite/InRelease';
  const PACKAGES = '/dists/suite/main/binary-amd64/Packages.gz';
  const but = (changes: Readonly<Record<string, ServedFile>>) => () => servedFiles({ ...good.files, ...changes });
  const signed = async (text: string): Promise<ServedFile> => ({ body: await key.sign(text) });
  const packagesOf = async (text: string) => ({
    [IN_RELEASE]: await signed(good.release(text)),
    [PACKAGES]: { body: gzipSync(text) },
  });
  const hostile = good.packages.replaceAll('pool/main/', '../../etc/').replaceAll('Package: s', 'Package: --s');

  holdInstallSource(t, () => new AptPackages(new KnownKeys(configDir)), {
    facts: base => ({
      repository: base,
      suite: 'suite',
      component: 'main',
      key: `${base}/key.asc`,
      packages: NAMES.slice(0, 3),
    }),
    answers: but({}),
    fetched: [
      { version: '1.10+deb12', installedVersion: '1.2+deb12', releasesBehind: 2, files: {}, maxRequests: 10 },
      {
        what: 'signed by the key that its template names',
        facts: { fingerprint: key.fingerprint },
        version: '1.10+deb12',
        files: {},
      },
      { what: 'what is there is not fetched again', version: '1.10+deb12', files: {}, maxRequests: 6 },
      { what: 'the version before', selector: { kind: 'pinned', version: '1.2' }, version: '1.2+deb12', files: {} },
      {
        what: 'a plain list',
        answers: but({
          [IN_RELEASE]: await signed(good.release().replace(/^.*Packages\.gz\n/m, '')),
          '/dists/suite/main/binary-amd64/Packages': { body: good.packages },
        }),
        selector: { kind: 'pinned', version: '1.2+deb12' },
        version: '1.2+deb12',
        files: {},
      },
    ],
    refused: [
      {
        what: 'no such version',
        selector: { kind: 'pinned', version: '9.9' },
        status: 400,
        message:
          /does not have stackwarden-try 9\.9 \(it has 1\.10\+deb12, 1\.10~rc1, 1\.2\+deb12\); correct pinned_version/,
      },
      {
        what: 'a tag',
        selector: { kind: 'release', release: 'v1' },
        status: 400,
        message: /there is no release of it; select a version by pinned_version/,
      },
      {
        what: 'another architecture',
        architecture: 'arm64',
        status: 400,
        message: /has no packages for arm64 in suite/,
      },
      {
        what: 'another system',
        facts: { suite: 'jessie' },
        status: 502,
        message: /does not have packages for jessie \(404\)/,
      },
      {
        what: 'a package that is missing',
        answers: () => servedFiles(incomplete.files),
        status: 400,
        message: /does not have stackwarden-try-web 1\.10\+deb12/,
      },
      {
        what: 'no key',
        answers: but({ '/key.asc': { body: '<html>' } }),
        status: 502,
        message: /gives no key in ASCII/,
      },
      {
        what: 'no signature',
        answers: but({ [IN_RELEASE]: unsigned }),
        status: 502,
        message: /are not signed by its key/,
      },
      {
        what: 'another key',
        answers: but({ [IN_RELEASE]: foreign.files[IN_RELEASE] ?? {} }),
        status: 502,
        message: /are not signed by its key/,
      },
      {
        what: 'a repository that has another key since',
        answers: () => servedFiles(foreign.files),
        status: 409,
        message: new RegExp(
          `are signed by the key ${other.fingerprint}, and were signed by ${key.fingerprint} before; .*remove the repository from .*apt_keys\\.json`,
        ),
      },
      {
        what: 'another key than its template names',
        facts: { fingerprint: other.fingerprint },
        status: 409,
        message: new RegExp(
          `are signed by the key ${key.fingerprint}, but its template names ${other.fingerprint}; nothing was installed`,
        ),
      },
      {
        what: 'a signed text with more around it',
        answers: but({
          [IN_RELEASE]: { body: `${good.release('x')}\n${good.files[IN_RELEASE]?.body}` },
          [PACKAGES]: { body: gzipSync('x') },
        }),
        status: 502,
        message: /is not the one that is signed/,
      },
      {
        what: 'a signed text that was changed',
        answers: but({
          [IN_RELEASE]: { body: String(good.files[IN_RELEASE]?.body).replace('Origin: Test', 'Origin: Tast') },
        }),
        status: 502,
        message: /are not signed by its key/,
      },
      {
        what: 'lists that ended',
        answers: but({
          [IN_RELEASE]: await signed(good.release(good.packages, 'Valid-Until: Sat, 01 Jan 2022 00:00:00 UTC\n')),
        }),
        status: 502,
        message: /ended on Sat, 01 Jan 2022/,
      },
      {
        what: 'another list',
        answers: but({ [PACKAGES]: { body: gzipSync(`${good.packages}\n`) } }),
        status: 502,
        message: /is not the one that is signed|larger than/,
      },
      {
        what: 'names and paths that are none',
        answers: but(await packagesOf(hostile)),
        status: 502,
        message: /does not have stackwarden-try;/,
      },
      {
        what: 'a list that is none',
        answers: but(await packagesOf('\0'.repeat(3_000_000))),
        status: 502,
        message: /does not have stackwarden-try;/,
      },
      {
        what: 'another package',
        answers: but({ '/pool/main/stackwarden-try-web_1.10+deb12_all.deb': { body: 'x' } }),
        beforeFetch: false,
        status: 502,
        message: /is not what its publisher says \(sha256\)/,
      },
      {
        what: 'packages that need what nobody has',
        answers: () => servedFiles(unmet.files),
        beforeFetch: false,
        status: 409,
        message: /apt-get could not install the packages \(.*no-such-library.*\); mend it with/,
      },
    ],
  });

  t.test('a repository keeps the key of its first use', async t => {
    const place = testDir(t);
    const [repository, elsewhere] = ['https://one.example', 'https://two.example'];
    const check = (of: string, ...signers: string[]) => new KnownKeys(place).check(of, signers, undefined);
    const keys = new KnownKeys(place);
    await Promise.all([keys.check(repository, ['A'], undefined), keys.check(elsewhere, ['B'], undefined)]);
    await check(repository, 'C', 'A');
    await t.rejects(check(repository, 'C'), { status: 409, message: /by the key C, and were signed by A before/ });
    await check(elsewhere, 'B');
    const file = path.join(place, KEYS_FILE);
    t.equal((await stat(file)).mode & 0o777, 0o600);
    await writeFile(file, JSON.stringify({ [elsewhere]: 'B' }));
    await check(repository, 'C');
    await t.rejects(check(repository, 'A'), /signed by C before/);
    await writeFile(file, '{');
    await t.rejects(check(repository, 'A'), { status: 409, message: /apt_keys\.json cannot be read/ });
  });

  t.test('the last wanted version is installed, and its unit is not started', async t => {
    const { stdout } = await run('dpkg-query', ['-W', ...NAMES]);
    t.same(stdout.replaceAll('\t', ' ').trim().split('\n').sort(), [
      'stackwarden-try 1.2+deb12',
      'stackwarden-try-codec 2.0',
      'stackwarden-try-server 1.2+deb12',
      'stackwarden-try-web 1.2+deb12',
    ]);
    t.match(await readFile(SERVER, 'utf8'), '# 1.2+deb12');
    t.notOk(existsSync(WANTED), 'its unit is not enabled');
  });
}

t.test('versions are ordered as dpkg orders them', { skip }, async t => {
  const version = fc.stringMatching(/^(\d:)?\d[0-9a-c.+~]{0,5}(-[0-9a~.]{1,3})?$/);
  const law = fc.asyncProperty(version, version, async (a, b) => {
    const isOlder = await run('dpkg', ['--compare-versions', a, 'lt', b]).then(
      () => true,
      () => false,
    );
    return isOlder === compareVersions(a, b) < 0;
  });
  await t.resolves(fc.assert(law, { numRuns: 100 }));
});
