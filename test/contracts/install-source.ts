// The contract of sources of programs: what a source finds and fetches over a real socket. No fault of a server may
// make it wait too long, leave files behind, or contact another server.
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { FetchOptions } from '../../core/contract/fetch.ts';
import type { Host } from '../../core/contract/host.ts';
import type { Problem } from '../../core/contract/problem.ts';
import { createFetcher } from '../../core/host/fetch.ts';
import { unpack } from '../../plugins/archives/unpack.ts';
import type {
  Architecture,
  AvailableRelease,
  FetchedRelease,
  FetchRequest,
  InstallSelector,
  InstallSource,
} from '../../plugins/installs/contract.ts';
import { download } from '../../plugins/installs/download.ts';
import { sourceFetch } from '../../plugins/installs/source-fetch.ts';
import { vendorFetch } from '../../plugins/installs/vendor-fetch.ts';
import {
  type FileAnswers,
  type FileRequest,
  openFileServer,
  type ServedFile,
  type ServerFault,
} from './file-server.ts';

/** A request for a release, and the answers of the servers. */
export interface InstallCase {
  readonly what?: string;
  /** Default: the latest release. */
  readonly selector?: InstallSelector;
  /** Default: amd64. */
  readonly architecture?: Architecture;
  readonly installedVersion?: string;
  /** Facts that differ from those of the table. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Default: the answers of the table. */
  readonly answers?: (base: string) => FileAnswers;
  /** Answers of the server `ELSEWHERE`. */
  readonly elsewhere?: FileAnswers;
}

export interface FetchedCase extends InstallCase {
  readonly version: string;
  readonly notesUrl?: string | null;
  readonly releasesBehind?: number | null;
  /**
   * All entries of the release by path: contents of files, and `-> target` for links. Empty for a release that is
   * placed elsewhere.
   */
  readonly files: Readonly<Record<string, string>>;
  /** Small texts that the source returns to be written into the release, by path. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The largest allowed number of requests for the release. */
  readonly maxRequests?: number;
  /** Names of headers that another server must not receive. */
  readonly secretHeaders?: readonly string[];
  /** Whether an interrupted download is resumed. */
  readonly isResumed?: boolean;
}

export interface RefusedCase extends InstallCase {
  readonly what: string;
  readonly status: number;
  readonly message: RegExp;
  /** Whether the search for the release is refused already. Default: true. */
  readonly beforeFetch?: boolean;
}

export interface InstallSourceTable {
  readonly facts: (base: string) => Readonly<Record<string, unknown>>;
  /** Answers of a server that has everything. */
  readonly answers: (base: string) => FileAnswers;
  /** The first case is the usual one. */
  readonly fetched: readonly [FetchedCase, ...FetchedCase[]];
  readonly refused: readonly RefusedCase[];
}

interface Outcome<Value> {
  readonly value: Value | undefined;
  readonly error: Problem | undefined;
}

interface Attempt {
  readonly requests: readonly FileRequest[];
  readonly elsewhere: readonly FileRequest[];
  readonly latest: Outcome<AvailableRelease>;
  readonly fetched: Outcome<FetchedRelease>;
  readonly files: Readonly<Record<string, string>>;
}

interface Fault {
  readonly what: string;
  readonly answer: ServedFile | ServerFault;
  readonly status: number;
  readonly message: RegExp;
}

/** Another server, to which the vendor's server may redirect. */
export const ELSEWHERE = 'https://files.example';
const VENDOR = 'https://vendor.example';
const SHORT_MS = 300;
const LIMIT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
const FAULTS: readonly Fault[] = [
  { what: 'no answer', answer: 'hang', status: 504, message: /in time/ },
  { what: 'silence in the midst', answer: 'silent', status: 504, message: /in time/ },
  { what: 'a reset', answer: 'reset', status: 502, message: /cannot be asked/ },
  { what: 'nothing there', answer: { status: 410 }, status: 502, message: /\(410\)/ },
  { what: 'no right', answer: { status: 403 }, status: 502, message: /refused .* \(403\)/ },
  {
    what: 'too many requests',
    answer: { status: 429, headers: { 'retry-after': '60' } },
    status: 502,
    message: /allows no more requests at present \(429\); try again after \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
  },
  {
    what: 'a limit that is used up',
    answer: { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1784300000' } },
    status: 502,
    message: /try again after 2026-07-17 14:54 UTC/,
  },
  { what: 'its own fault', answer: { status: 503 }, status: 502, message: /answered 503/ },
  { what: 'an answer without end', answer: 'endless', status: 502, message: /./ },
  { what: 'a page', answer: { body: '<html>log in' }, status: 502, message: /./ },
];

/** Runs all tests of the contract. `open` creates the source with the services of a host. */
export function holdInstallSource(
  t: Test,
  open: (host: Pick<Host, 'use'>) => InstallSource,
  table: InstallSourceTable,
): void {
  const ask = (of: InstallCase, options?: { limitMs?: number; signal?: AbortSignal }) =>
    attempted(open, table, of, options);
  const [usual] = table.fetched;

  t.test('what it finds and fetches', async t => {
    for (const wanted of table.fetched) {
      const what = wanted.what ?? wanted.version;
      const { latest, fetched, files, requests, elsewhere } = await ask(wanted);
      t.equal(latest.error ?? fetched.error, undefined, what);
      t.equal(latest.value?.version, wanted.version, `${what}: the version that is told`);
      t.equal(fetched.value?.version, wanted.version, `${what}: the version that is fetched`);
      t.equal(latest.value?.notesUrl, wanted.notesUrl ?? null);
      t.equal(latest.value?.releasesBehind, wanted.releasesBehind ?? null);
      t.same(files, wanted.files, `${what}: files`);
      if (wanted.texts !== undefined) t.same(fetched.value?.files, wanted.texts, `${what}: texts`);
      if (wanted.elsewhere !== undefined) t.ok(elsewhere.length > 0, `${what}: something is fetched elsewhere`);
      for (const { headers } of elsewhere)
        for (const name of wanted.secretHeaders ?? []) t.notOk(name in headers, `${what}: ${name} does not travel`);
      const isResumed = [...requests, ...elsewhere].some(({ headers }) => headers.range !== undefined);
      t.equal(isResumed, wanted.isResumed ?? false, `${what}: whether it is continued`);
      if (wanted.maxRequests !== undefined)
        t.ok(requests.length <= wanted.maxRequests, `${what}: ${requests.length} requests`);
    }
  });

  t.test('what it refuses', async t => {
    for (const { what, status, message, beforeFetch = true, ...of } of table.refused) {
      const { latest, fetched, files } = await ask(of);
      if (beforeFetch) t.match(latest.error, { status, message }, what);
      t.match(fetched.error, { status, message }, what);
      t.same(files, {}, `${what}: nothing is left`);
    }
  });

  t.test('faults of the server', async t => {
    for (const { what, answer, status, message } of FAULTS) {
      const limit = status === 504 ? { limitMs: SHORT_MS } : {};
      const { latest, fetched, files } = await ask({ ...usual, answers: () => () => answer }, limit);
      for (const { error } of [latest, fetched]) {
        t.match(error, { status, message }, what);
        t.match(error?.message, 'vendor.example', `${what}: the host is named`);
      }
      t.same(files, {}, `${what}: nothing is left`);
    }
  });

  t.test('its signal ends it', async t => {
    const reason = new Error('the user has cancelled it');
    const { latest, fetched } = await ask(usual, { signal: AbortSignal.abort(reason) });
    for (const { error } of [latest, fetched]) t.ok(error === reason || error?.cause === reason, 'the reason is told');
  });
}

/** Asks servers that are started for this attempt for the latest release, and then fetches it. */
async function attempted(
  open: (host: Pick<Host, 'use'>) => InstallSource,
  table: InstallSourceTable,
  of: InstallCase,
  {
    limitMs = LIMIT_MS,
    signal = new AbortController().signal,
  }: { readonly limitMs?: number; readonly signal?: AbortSignal } = {},
): Promise<Attempt> {
  const vendor = await openFileServer((of.answers ?? table.answers)(VENDOR));
  const store = await openFileServer(request => of.elsewhere?.(request));
  const mirrors = { [new URL(VENDOR).host]: vendor.base, [new URL(ELSEWHERE).host]: store.base };
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-source-'));
  const into = path.join(directory, 'release');
  await mkdir(into);
  const fetcher = createFetcher(new AbortController().signal, 'stackwarden/contract');
  const fetch = vendorFetch({
    fetch: (url: string, options: FetchOptions = {}) =>
      fetcher.fetch(url, { ...options, verifyTls: false, timeoutMs: limitMs, idleTimeoutMs: limitMs }),
    use: () => ({ root: () => ({ dumb: { install_mirrors: mirrors } }) }),
  } as unknown as Pick<Host, 'fetch' | 'use'>);
  const limits = { user: null, signal, needSpace: async () => undefined, report: () => undefined };
  const block = {
    processName: 'Program',
    path: ['program'],
    configKey: 'program',
    key: 'program',
    isHost: false,
    block: {},
  };
  const downloadTo =
    (place: string): FetchRequest['download'] =>
    (url, options) =>
      download({ ...limits, ...options, url, directory: place, fetch, paced: () => 0 });
  const request: FetchRequest = {
    ...limits,
    block,
    facts: { ...table.facts(VENDOR), ...of.facts },
    selector: of.selector ?? { kind: 'latest' },
    architecture: of.architecture ?? 'amd64',
    installedVersion: of.installedVersion ?? null,
    fill: text => text,
    fetch: sourceFetch(fetch, signal),
    into,
    maxBytes: MAX_BYTES,
    download: downloadTo(directory),
  };
  const source = open({ use: () => ({ unpack }) } as unknown as Pick<Host, 'use'>);
  const fetchAndPlace = async (): Promise<FetchedRelease> => {
    if (source.place === undefined) return source.fetch(request);
    const fetched = await source.fetch({ ...request, download: downloadTo(into) });
    for (const [name, text] of Object.entries(fetched.files ?? {})) await writeFile(path.join(into, name), text);
    await source.place({ ...request, directory: into, version: fetched.version });
    return fetched;
  };
  try {
    const latest = await outcomeOf(() => source.latest(request));
    const fetched = await outcomeOf(fetchAndPlace);
    const files = source.place === undefined ? await filesIn(into) : {};
    return { requests: vendor.requests, elsewhere: store.requests, latest, fetched, files };
  } finally {
    await fetcher.close();
    await Promise.all([vendor.close(), store.close()]);
    await rm(directory, { recursive: true });
  }
}

async function outcomeOf<Value>(run: () => Promise<Value>): Promise<Outcome<Value>> {
  return run().then(
    value => ({ value, error: undefined }),
    (error: Problem) => ({ value: undefined, error }),
  );
}

/** Contents of files by path, and `-> target` for links. */
async function filesIn(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(directory, file);
    if (entry.isSymbolicLink()) found[name] = `-> ${await readlink(file)}`;
    else if (entry.isFile()) found[name] = await readFile(file, 'utf8');
  }
  return found;
}
