// Downloads of releases: resumed after an interruption, checked, limited, and refused with one sentence.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { createFetcher } from '../../../core/host/fetch.ts';
import { type DownloadRequest, download } from '../../../plugins/installs/download.ts';
import { testDir } from '../../support/directory.ts';
import { ROOT_ONLY } from '../../support/race.ts';

const CONTENT = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
const HALF = CONTENT.length / 2;
const sha256 = createHash('sha256').update(CONTENT).digest('hex');
const other = Buffer.alloc(CONTENT.length, 7);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Sends the first half and then disconnects. */
const cutOf =
  (content: Buffer, headers = {}): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': content.length, ...headers });
    response.write(content.subarray(0, HALF), () => setImmediate(() => response.destroy()));
  };
const cut = cutOf(CONTENT, { etag: '"one"' });
const whole =
  (content: Buffer, headers = {}): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': content.length, ...headers });
    response.end(content);
  };
const rest: Answer = ({ headers }, response) => {
  const [, start = ''] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const from = Number(start);
  response.writeHead(206, {
    'content-range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}`,
    ...(headers['if-range'] === undefined ? {} : { etag: String(headers['if-range']) }),
  });
  response.end(CONTENT.subarray(from));
};
/** Like `rest`, for a server that has another file by now and ignores conditional headers. */
const restOfAnother =
  (tag: Record<string, string>): Answer =>
  ({ headers }, response) => {
    const [, start = ''] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    response.writeHead(206, { 'content-range': `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}`, ...tag });
    response.end(CONTENT.subarray(Number(start)));
  };
const refusal =
  (status: number): Answer =>
  (_request, response) => {
    response.writeHead(status);
    response.end('no');
  };

/** Never ends, and sends hardly anything. */
const drip: Answer = (_request, response) => {
  const more = () => void (response.destroyed || response.write('x', () => setImmediate(more)));
  response.writeHead(200, { etag: '"one"' });
  more();
};

const MIB = 2 ** 20;
/** Never ends, and does not announce a length. */
const endless: Answer = (_request, response) => {
  const more = () => void (response.destroyed || response.write(Buffer.alloc(MIB), () => setImmediate(more)));
  response.writeHead(200);
  more();
};
/** Disconnects after so many bytes, and supports no ranges. */
const cutAfter =
  (bytes: number): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': 8 * MIB });
    response.write(Buffer.alloc(bytes), () => setImmediate(() => response.destroy()));
  };

t.test('a fault of the disk is not reported as one of the network', ROOT_ONLY, async t => {
  const directory = testDir(t, {});
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,nr_inodes=2', 'tmpfs', directory]);
  t.teardown(() => execFileSync('umount', ['-l', directory]));
  const fetch = (async () => ({
    status: 200,
    headers: {},
    body: [Buffer.alloc(100_000)],
  })) as unknown as DownloadRequest['fetch'];
  const get = (name: string, more: Partial<DownloadRequest> = {}) =>
    download({
      url: 'https://example.org/app.zip',
      name,
      directory,
      user: null,
      signal: new AbortController().signal,
      fetch,
      paced: () => 1,
      needSpace: async () => undefined,
      report: () => undefined,
      ...more,
    });
  const isFull = {
    status: 507,
    message: `the file system of ${directory} is full (no space or no inode left); remove files there`,
  };
  await t.rejects(get('one'), isFull, 'for its content');
  await t.rejects(get('two'), isFull, 'for its name');
  await t.rejects(get('three', { directory: path.join(directory, 'gone') }), {
    status: 500,
    message: /gone\/three cannot be written: no such file or directory; see to its disk$/,
  });
});

t.test('a download is resumed, checked and limited', async t => {
  const asked: IncomingMessage['headers'][] = [];
  let answers: readonly Answer[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    (answers[asked.length - 1] ?? answers.at(-1))?.(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const fetcher = createFetcher(new AbortController().signal, 'test');
  t.teardown(async () => {
    await fetcher.close();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const root = testDir(t, {});
  const percents: (number | null)[] = [];

  const get = async (with_: readonly Answer[], more: Partial<DownloadRequest> = {}) => {
    asked.length = 0;
    answers = with_;
    const directory = await mkdtemp(path.join(root, 'in-'));
    const file = await download({
      url: `${base}/app.zip?key=of-no-concern`,
      name: 'app.zip',
      directory,
      user: null,
      signal: new AbortController().signal,
      fetch: fetcher.fetch,
      paced: () => 1,
      needSpace: async () => undefined,
      report: ({ percent }) => percents.push(percent),
      ...more,
    });
    t.same(await readdir(directory), ['app.zip']);
    return readFile(file);
  };
  const digest = { algorithm: 'sha256', hex: sha256.toUpperCase() } as const;

  t.ok((await get([whole(CONTENT)], { digest, headers: { authorization: 'Bearer x' } })).equals(CONTENT));
  t.equal(percents.at(-1), 100);
  t.match(asked[0], { authorization: 'Bearer x' });

  t.ok((await get([cut, rest], { digest })).equals(CONTENT), 'a cut-off connection is continued');
  t.match(asked[1], { range: /^bytes=[1-9]\d*-$/, 'if-range': '"one"' });
  let tokens = 0;
  const headers = async () => {
    tokens += 1;
    if (tokens === 2) throw new Problem(504, 'no token at this moment');
    return { authorization: `Bearer ${tokens}` };
  };
  t.ok((await get([cut, rest], { digest, headers })).equals(CONTENT), 'each connection has headers of its own');
  t.same(
    asked.map(({ authorization }) => authorization),
    ['Bearer 1', 'Bearer 3'],
  );
  t.ok((await get([cut, whole(other)])).equals(other), 'from the beginning when the file is another');
  for (const [before, now] of [
    [{ etag: '"one"' }, { etag: '"two"' }],
    [{ 'last-modified': 'Mon, 05 Jan 2026 10:00:00 GMT' }, { 'last-modified': 'Tue, 06 Jan 2026 10:00:00 GMT' }],
  ] as const)
    t.ok(
      (await get([cutOf(other, before), restOfAnother(now), whole(CONTENT)])).equals(CONTENT),
      'also where a server continues another file, and says so',
    );
  t.ok((await get([cut, refusal(503), rest], { digest })).equals(CONTENT), 'also after a failure of the server');
  t.ok((await get([cutOf(CONTENT), rest], { digest })).equals(CONTENT), 'without a tag, by what it must be');
  t.notOk('if-range' in (asked[1] ?? {}));
  t.ok((await get([cutOf(other), rest, whole(CONTENT)], { digest })).equals(CONTENT), 'what was pieced from two files');
  t.notOk('range' in (asked[2] ?? {}), 'is fetched from the beginning');
  t.ok(
    (await get([cutOf(other), refusal(416), whole(CONTENT)], { digest })).equals(CONTENT),
    'and what is shorter now',
  );
  t.ok((await get([cutOf(other), whole(CONTENT)])).equals(CONTENT), 'without tag and digest nothing is continued');
  t.notOk('range' in (asked[1] ?? {}));

  const host = /^[^?]*127\.0\.0\.1:\d+[^?]*$/;
  for (const [what, given, more, problem] of [
    [
      'another content',
      [whole(other)],
      { digest },
      { status: 502, message: /is not what its publisher says \(sha256\)/ },
    ],
    ['no such file', [refusal(404)], {}, { status: 502, message: /app\.zip \(404\); check what is selected/ }],
    ['no right', [refusal(403)], {}, { status: 502, message: /refused app\.zip \(403\)/ }],
    ['a server that fails', [refusal(500)], {}, { status: 502, message: /answered 500 .*try again later/ }],
    ['a size that is told', [whole(CONTENT)], { maxBytes: 10 }, { status: 502, message: /larger than 10 bytes/ }],
    ['a place that is wrong', [cut, whole(CONTENT), rest], { maxBytes: HALF }, { status: 502, message: /larger than/ }],
  ] as const) {
    const failure = await get(given, more as Partial<DownloadRequest>).catch((error: unknown) => error);
    t.match(failure, problem, what);
    t.match((failure as Error).message, host, 'it names the host, and nothing of the query');
  }
  let nowMs = 0;
  const clock = () => {
    nowMs += 20_000;
    return nowMs;
  };
  t.ok((await get([drip, whole(CONTENT)], { nowMs: clock })).equals(CONTENT), 'who hardly gives anything is left');
  const slow = { status: 504, message: /at less than 1 KiB a second; .*dumb\.install_mirrors/ };
  await t.rejects(get([drip], { nowMs: clock }), slow);
  t.equal(asked.length, 5);
  const large = { status: 502, message: /larger than 3145728 bytes; choose another release/ };
  await t.rejects(get([endless], { maxBytes: 3 * MIB, digest }), large);
  t.equal(asked.length, 1, 'what is too large is asked for once');
  const here = [2 * MIB, 4 * MIB].map(cutAfter);
  await t.rejects(get([...here, ...here, ...here, refusal(404)]), { status: 502, message: /cannot be asked/ });
  t.equal(asked.length, 6, 'connections that come no further than one before count as failures');
  const full = new Problem(507, 'no room');
  await t.rejects(get([whole(CONTENT)], { needSpace: () => Promise.reject(full) }), { message: 'no room' });
});
