// Refused changes stand in the log, a limited number of them.
import t from 'tap';
import { RefusedChanges } from '../../../core/http/refused-changes.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('a refused change from a foreign site is logged', async t => {
  const app = await startWithPlugins(t, {}, { shipped: ['config'] });
  const headers = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' };
  const refused = await fetch(`${app.base}/config`, { method: 'POST', headers, body: '{"updates":{}}' });
  t.equal(refused.status, 403);
  const line = /INFO - \S+: POST \/config from 127\.0\.0\.1 was refused \(403\): \S/;
  await until(async () => line.test(await ownLog(app)), { what: 'the line' });
});

t.test('refusals are logged in limited number, without reads and control characters', async t => {
  const lines: string[] = [];
  const log = { debug() {}, warn() {}, error() {}, info: (line: string) => void lines.push(line) };
  const refusals = new RefusedChanges(log);
  const request = (method: string) =>
    ({ method, url: '/x\u202e\ny?token=secret', socket: { remoteAddress: '192.0.2.1' } }) as never;
  const refusal = { status: 401, reason: 'no token' };
  refusals.note(request('GET'), refusal);
  refusals.note(request('POST'), { ...refusal, status: 404 });
  t.same(lines, []);
  for (let count = 0; count < 1_000; count += 1) refusals.note(request('POST'), refusal);
  t.equal(lines.length, 10);
  t.equal(lines[0], 'POST /x  y from 192.0.2.1 was refused (401): no token');
});
