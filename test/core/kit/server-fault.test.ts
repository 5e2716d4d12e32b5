// The messages for people about servers that do not give what was requested.
import t from 'tap';
import { createFetcher } from '../../../core/host/fetch.ts';
import { networkFault, statusFault } from '../../../core/kit/server-fault.ts';
import { openFileServer } from '../../contracts/file-server.ts';

const URL = 'https://vendor.example/a';

t.test('each status has a message that says what to do', async t => {
  for (const [status, headers, message] of [
    [404, {}, 'vendor.example does not have its feed (404); check what is selected, or try again later'],
    [401, {}, 'vendor.example refused its feed (401); check that this machine may use it, and its proxy'],
    [500, {}, 'vendor.example answered 500 when asked for its feed; try again later'],
    [429, {}, 'vendor.example allows no more requests at present (429); try again in an hour'],
    [
      429,
      { 'retry-after': 'Fri, 01 Jan 2100' },
      'vendor.example allows no more requests at present (429); try again in an hour',
    ],
    [
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1784300000' },
      'vendor.example allows no more requests at present (403); try again after 2026-07-17 14:54 UTC',
    ],
    [
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1784299980' },
      'vendor.example allows no more requests at present (403); try again after 2026-07-17 14:53 UTC',
    ],
    [
      403,
      { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1784300000' },
      'vendor.example refused its feed (403); check that this machine may use it, and its proxy',
    ],
    [
      429,
      { 'x-ratelimit-reset': '99999999999999999999' },
      'vendor.example allows no more requests at present (429); try again in an hour',
    ],
    [
      429,
      { 'x-ratelimit-reset': '9999999999' },
      'vendor.example allows no more requests at present (429); try again in an hour',
    ],
    [429, { 'retry-after': '999999' }, 'vendor.example allows no more requests at present (429); try again in an hour'],
  ] as const)
    t.match(statusFault(URL, { status, headers }, 'its feed'), { status: 502, message });
});

t.test('each fault of a connection has a message', async t => {
  const server = await openFileServer(({ path }) => (path === '/hang' ? 'hang' : 'reset'));
  const fetcher = createFetcher(new AbortController().signal, 'test');
  t.teardown(async () => {
    await fetcher.close();
    await server.close();
  });
  const { host } = new globalThis.URL(server.base);
  const faultOf = (url: string, options: object) =>
    fetcher.fetch(url, options).then(
      () => undefined,
      (error: unknown) => networkFault(url, error),
    );
  for (const [url, options, status, message] of [
    [server.base, {}, 502, `${host} cannot be asked (DEPTH_ZERO_SELF_SIGNED_CERT); its certificate is not trusted`],
    [server.base, { verifyTls: false }, 502, `${host} cannot be asked (UND_ERR_SOCKET); check the network`],
    [`${server.base}/hang`, { verifyTls: false, timeoutMs: 100 }, 504, `${host} did not answer in time`],
    ['https://no-such-host.invalid/', {}, 502, 'no-such-host.invalid cannot be asked ('],
  ] as const) {
    const fault = await faultOf(url, options);
    t.equal(fault?.status, status, url);
    t.equal(fault?.message.slice(0, message.length), message);
  }
});
