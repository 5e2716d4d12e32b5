// Answers are compressed for clients that accept gzip, above 8 KiB, on routes that allow it; other answers are
// unchanged.
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { request } from 'undici';
import { answer } from '../../../core/contract/plugin.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const TEXT = 'a line that repeats itself, ';

t.test('large answers are compressed where route and client allow it', async t => {
  const type = 'application/json; charset=utf-8';
  const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' };
  Object.assign(globalThis, { packedAnswer: answer(gzipSync('{"text":"packed"}'), { headers }) });
  Object.assign(globalThis, {
    packedStream: () => answer(Readable.from([gzipSync('{"text":"packed"}')]), { headers }),
  });
  const app = await startWithPlugins(t, {
    large: `
      const kept = Object.freeze({ text: ${JSON.stringify(TEXT)}.repeat(1000) })
      const route = (path, handle, compress = true) => host.route({ method: 'GET', path, summary: path, access: 'public', compress, handle })
      route('/kept', () => kept)
      route('/made', () => ({ ...kept }))
      route('/small', () => ({ text: 'small' }))
      route('/plain', () => kept, false)
      route('/none', () => null)
      route('/packed', () => globalThis.packedAnswer)
      route('/packed-stream', () => globalThis.packedStream())
      route('/refused', () => { throw new host.Problem(409, 'no; try again') })`,
  });
  const get = async (path: string, encoding?: string) => {
    const answer = await request(
      app.base + path,
      encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } },
    );
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const isGzip = answer.headers['content-encoding'] === 'gzip';
    return {
      isGzip,
      headers: answer.headers,
      status: answer.statusCode,
      text: String(isGzip ? gunzipSync(bytes) : bytes),
    };
  };
  const whole = JSON.stringify({ text: TEXT.repeat(1_000) });
  for (const path of ['/kept', '/kept', '/made']) {
    const { isGzip, headers, text } = await get(path, 'br, gzip;q=0.8');
    t.equal(isGzip, true, path);
    t.equal(text, whole);
    t.match(headers, { 'content-type': 'application/json; charset=utf-8', vary: 'Accept-Encoding' });
    t.ok(Number(headers['content-length']) < whole.length / 10);
  }
  for (const encoding of [undefined, 'identity', 'gzip;q=0', 'gzip; q=0.0', 'br', 'xgzip'])
    t.match(await get('/kept', encoding), { isGzip: false, text: whole }, encoding ?? 'no header');
  t.match(await get('/plain', 'gzip'), { isGzip: false, text: whole });
  t.match(await get('/small', 'gzip'), { isGzip: false, text: '{"text":"small"}' });
  t.match(await get('/none', 'gzip'), { isGzip: false, text: 'null' });
  const packed = { text: '{"text":"packed"}', headers: { vary: 'Accept-Encoding' } };
  for (const path of ['/packed', '/packed-stream']) {
    t.match(await get(path, 'gzip'), { ...packed, isGzip: true });
    t.match(await get(path), { ...packed, isGzip: false }, 'what is compressed already is unpacked for others');
  }
  t.match(await get('/refused', 'gzip'), { isGzip: false, status: 409 });
});
