// What a table of cases cannot show about releases of repositories: where the token is sent, interrupted downloads,
// rate limits, local addresses, the facts of templates, and the configuration.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { FetchOptions } from '../../../core/contract/fetch.ts';
import { createFetcher, type Fetcher } from '../../../core/host/fetch.ts';
import { unpack } from '../../../plugins/archives/unpack.ts';
import { githubFacts } from '../../../plugins/install-github-release/github-facts.ts';
import { GithubReleases } from '../../../plugins/install-github-release/github-releases.ts';
import type { FetchRequest } from '../../../plugins/installs/contract.ts';
import { download } from '../../../plugins/installs/download.ts';
import { type FileAnswers, type FileServer, openFileServer, type ServedFile } from '../../contracts/file-server.ts';
import { tar } from '../../support/archive-bytes.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { templatesOf } from '../../support/templates.ts';

const REPO = '/repos/owner/program';
const ASSET = 'program-linux.tar.gz';
const archive = gzipSync(tar([{ name: 'program', content: '#!/bin/sh', mode: 0o755 }]));
const FACTS = { owner: 'owner', repository: 'program', privateRepository: 'secret', assets: [ASSET] };

/** A release of a server at this address, whose file lies elsewhere. */
const releaseAt = (url: string, tag = 'v1.0.0') => ({
  tag_name: tag,
  html_url: null,
  assets: [{ id: 7, name: ASSET, browser_download_url: url }],
});

type Wanted = Partial<Omit<FetchRequest, 'fetch'>> & {
  readonly fetch?: (fetcher: Fetcher) => Fetcher['fetch'];
  readonly token?: string;
  readonly maxWaitS?: number;
};

/** A source, and a request to it as the installer makes it. */
function asking(t: Parameters<typeof testDir>[0], base: string, wanted: Wanted = {}) {
  const { fetch: fetchBy, token = '', maxWaitS = 0, ...more } = wanted;
  const dir = testDir(t, { downloads: {}, release: {} });
  const { signal } = new AbortController();
  const fetcher = createFetcher(signal, 'stackwarden/test');
  t.teardown(() => fetcher.close());
  const unverified = ((url: string, options: FetchOptions = {}) =>
    fetcher.fetch(url, { ...options, verifyTls: false })) as Fetcher['fetch'];
  const fetch = fetchBy?.({ ...fetcher, fetch: unverified }) ?? unverified;
  const texts: string[] = [];
  const report = ({ text }: { readonly text: string }): void => void texts.push(text);
  const request: FetchRequest = {
    block: {
      processName: 'Program',
      path: ['program'],
      configKey: 'program',
      key: 'program',
      isHost: false,
      block: {},
    },
    facts: { ...FACTS, api: base },
    selector: { kind: 'latest' },
    architecture: 'amd64',
    installedVersion: null,
    signal,
    fill: text => text,
    fetch,
    into: path.join(dir, 'release'),
    user: null,
    maxBytes: 1e9,
    needSpace: async () => undefined,
    report,
    download: (url, options) =>
      download({
        ...options,
        url,
        directory: path.join(dir, 'downloads'),
        user: null,
        signal,
        fetch,
        paced: ms => ms / 100,
        needSpace: async () => undefined,
        report,
      }),
    ...more,
  };
  const source = new GithubReleases({ use: () => ({ unpack }) as never }, () => ({ token, maxWaitS }));
  const program = () => readFile(path.join(request.into, 'program'), 'utf8');
  return { source, request, texts, program };
}

async function serving(t: Parameters<typeof testDir>[0], answers: FileAnswers): Promise<FileServer> {
  const server = await openFileServer(request => answers(request));
  t.teardown(() => server.close());
  return server;
}

const byPath =
  (answers: Readonly<Record<string, ServedFile>>): FileAnswers =>
  ({ path }) =>
    answers[path];

t.test('the token is sent to the API alone', async t => {
  const files = await serving(t, byPath({ '/stored': { body: archive } }));
  // Another origin than the API, on the same machine.
  const elsewhere = `${files.base}/stored`;
  const redirect = { status: 302, headers: { location: elsewhere } };
  const server = await serving(
    t,
    byPath({
      '/repos/owner/secret/releases?per_page=100': { body: [releaseAt(elsewhere, 'v1-nightly')] },
      '/repos/owner/secret/releases/assets/7': redirect,
      [`${REPO}/releases/latest`]: { body: releaseAt(elsewhere) },
      [`${REPO}/releases/assets/7`]: redirect,
      [`${REPO}/releases/tags/v1.0.0`]: { body: releaseAt(elsewhere) },
      [`${REPO}/zipball/refs/tags/v1.0.0`]: redirect,
    }),
  );
  const { signal } = new AbortController();
  const token = 'ghp_0123456789';
  const nightly = asking(t, server.base, { token, selector: { kind: 'nightly' }, signal });
  t.match(await nightly.source.fetch(nightly.request), { version: 'v1-nightly' });
  t.equal(await nightly.program(), '#!/bin/sh');
  const sources = { owner: 'owner', repository: 'program', api: server.base };
  const tagged = asking(t, server.base, { token, facts: sources, selector: { kind: 'release', release: 'v1.0.0' } });
  await tagged.source.fetch(tagged.request);
  t.equal(server.requests.length, 4);
  t.ok(server.requests.every(({ headers }) => headers.authorization === `Bearer ${token}`));
  t.equal(server.requests[1]?.headers.accept, 'application/octet-stream');
  t.equal(files.requests.length, 2);
  for (const { headers } of files.requests) t.notMatch(JSON.stringify(headers), token);
  const stranger = asking(t, server.base);
  await stranger.source.fetch(stranger.request);
  t.equal(server.requests.at(-1)?.headers.authorization, undefined);
});

t.test('a rejected token is reported', async t => {
  const server = await serving(t, () => ({ status: 401, body: { message: 'Bad credentials' } }));
  const { source, request } = asking(t, server.base, { token: 'ghp_0123456789' });
  const message = /does not know the token \(401\); correct github_token/;
  await t.rejects(source.latest(request), { status: 502, message });
});

t.test('an interrupted download is resumed', async t => {
  const rest: (string | undefined)[] = [];
  const server: FileServer = await serving(t, ({ path, headers }) => {
    if (path !== '/stored') return { body: releaseAt(`${server.base}/stored`) };
    rest.push(headers.range);
    return { body: archive, headers: { etag: '"one"' }, ...(rest.length < 3 ? { cutAfterBytes: 40 } : {}) };
  });
  const { source, request, program } = asking(t, server.base);
  await source.fetch(request);
  t.equal(await program(), '#!/bin/sh');
  t.strictSame(rest, [undefined, 'bytes=40-', 'bytes=80-']);
});

t.test('rate limits are waited for or remembered, and reported with their end', async t => {
  const inS = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);
  const used = (reset: string) => ({
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
    body: { message: 'API rate limit exceeded' },
  });
  let first = used(inS(3_600));
  let count = 0;
  const server: FileServer = await serving(t, ({ path }) => {
    if (path === '/stored') return { body: archive };
    count += 1;
    return count === 1 ? first : { body: releaseAt(`${server.base}/stored`) };
  });
  const { source, request } = asking(t, server.base, { maxWaitS: 300 });
  const message =
    /allows no more requests at present \(403\); try again after \d{4}-\d\d-\d\d \d\d:\d\d UTC, or now: a token in github_token/;
  await t.rejects(source.fetch(request), { status: 502, message });
  await t.rejects(source.latest(request), { status: 502, message });
  t.equal(server.requests.length, 1, 'and nobody is asked before');
  count = 0;
  first = used(inS(2));
  const patient = asking(t, server.base, { maxWaitS: 300 });
  t.match(await patient.source.fetch(patient.request), { version: 'v1.0.0' });
  t.match(patient.texts[1], /^waits until \d\d:\d\d UTC for GitHub$/);
});

t.test('a rate limit in seconds has a fixed end', async t => {
  const clocks = { date: Date.now, performance: performance.now };
  let laterMs = 0;
  t.teardown(() => {
    Date.now = clocks.date;
    performance.now = clocks.performance;
  });
  Date.now = () => clocks.date() + laterMs;
  performance.now = () => clocks.performance.call(performance) + laterMs;
  const headers = { 'retry-after': '3000' };
  const server = await serving(t, () => ({ status: 429, headers, body: { message: 'API rate limit exceeded' } }));
  const { source, request } = asking(t, server.base);
  const told = async (): Promise<number> => {
    const { message } = await source.latest(request).then(
      () => new Error('it was not refused'),
      (error: Error) => error,
    );
    const [, time] = /try again after (\d{4}-\d\d-\d\d \d\d:\d\d) UTC/.exec(message) ?? [];
    return Date.parse(`${time?.replace(' ', 'T')}Z`);
  };
  const endMs = Date.now() + 3_000_000;
  const first = await told();
  t.ok(first >= endMs, 'and not before it');
  laterMs = 2_400_000;
  t.ok((await told()) - first <= 60_000);
  t.equal(server.requests.length, 1);
});

t.test('the newest release is installed even if the list of releases is refused', async t => {
  const server: FileServer = await serving(t, ({ path }) => {
    if (path === '/stored') return { body: archive };
    if (path !== `${REPO}/releases?per_page=100`) return { body: releaseAt(`${server.base}/stored`) };
    const headers = { 'x-ratelimit-remaining': '0', 'retry-after': '3' };
    return { status: 403, headers, body: { message: 'API rate limit exceeded' } };
  });
  const wanted = { maxWaitS: 300, installedVersion: 'v0.9.0' };
  const installed = asking(t, server.base, wanted);
  t.match(await installed.source.fetch(installed.request), { version: 'v1.0.0' });
  t.strictSame(
    server.requests.map(({ path }) => path),
    [`${REPO}/releases/latest`, '/stored'],
    'an installation does not ask how far behind it was',
  );
  t.notOk(installed.texts.some(text => text.startsWith('waits')));
  const { source, request } = asking(t, server.base, wanted);
  t.strictSame(await source.latest(request), { version: 'v1.0.0', notesUrl: null, releasesBehind: null });
});

t.test('a refusal is remembered for an hour at most', async t => {
  for (const headers of [
    { 'retry-after': '999999' },
    { 'retry-after': '9'.repeat(400) },
    { 'x-ratelimit-reset': '9999999999' },
    { 'x-ratelimit-reset': '9'.repeat(400) },
  ]) {
    let count = 0;
    const server: FileServer = await serving(t, () => {
      count += 1;
      if (count === 1) return { status: 429, headers, body: { message: 'API rate limit exceeded' } };
      return { body: releaseAt(`${server.base}/stored`) };
    });
    const { source, request } = asking(t, server.base);
    const refusal = { status: 502, message: /try again in an hour, or now: a token/ };
    await t.rejects(source.latest(request), refusal);
    await t.rejects(source.latest(request), refusal);
    t.equal(count, 1, 'nobody is asked meanwhile');
    const { now } = performance;
    const later = t.intercept(performance, 'now', { value: () => now.call(performance) + 3_601_000 });
    t.match(await source.latest(request), { version: 'v1.0.0' });
    later.restore();
  }
});

t.test('the facts of the templates are valid', async t => {
  let count = 0;
  for (const { key, install } of (await templatesOf()).list()) {
    if (install === undefined || 'with' in install) continue;
    const { release, words } = install.facts as { release?: object; words?: object };
    const facts = install.source === 'github-release' ? install.facts : release && { ...release, words };
    if (facts === undefined) continue;
    t.doesNotThrow(() => githubFacts.parse(facts), key);
    count += 1;
  }
  t.ok(count > 20);
});

t.test('the token can be set in the configuration', async t => {
  const app = await startHost({ plugins: ['config', 'host-plugins', 'install-github-release'] });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config');
  t.match(body.dumb, { github_token: '', github_username: '', github_rate_limit_max_wait_seconds: 300 });
  const save = (github_rate_limit_max_wait_seconds: number) =>
    app.post('/config', { updates: { dumb: { github_token: 'ghp_0123456789', github_rate_limit_max_wait_seconds } } });
  t.equal((await save(3_601)).status, 400);
  t.equal((await save(60)).status, 200);
  const plugin = (await app.get('/host/plugins')).body.plugins.find(
    ({ name }: { name: string }) => name === 'install-github-release',
  );
  t.strictSame(plugin.contributions, ['config.schema:github', 'install.source:github-release']);
});
