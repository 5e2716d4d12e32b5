// Large bodies at once share one budget of memory: what does not fit is told to come again, small ones still pass, and
// nothing stays taken.
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { openEntrance, type TestEntrance } from '../support/entrance.ts';
import { until } from '../support/until.ts';

const LARGE_BYTES = 9 * 1024 * 1024;
const COUNT = 20;
const large = JSON.stringify({ text: 'x'.repeat(LARGE_BYTES) });

async function open(t: Test): Promise<{ entrance: TestEntrance; finish(): void; handled(): number }> {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  let finish = () => {};
  const finished = new Promise<void>(resolve => {
    finish = resolve;
  });
  let handled = 0;
  entrance.http.addRoute('a', {
    method: 'POST',
    path: '/large',
    summary: 'large',
    bodyLimitBytes: 10 * 1024 * 1024,
    async handle() {
      handled += 1;
      await finished;
      return 'done';
    },
  });
  entrance.http.addRoute('a', { method: 'POST', path: '/small', summary: 'small', handle: () => 'done' });
  return { entrance, finish, handled: () => handled };
}

/** Sends a body in the given framing; resolves with the answer's head and body. */
function send(port: number, body: string, isChunked: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
    const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
    const head = ['POST /large HTTP/1.1', 'Host: nas', 'Content-Type: application/json', 'Connection: close', framing];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body);
  });
}

for (const isChunked of [false, true]) {
  t.test(`bodies ${isChunked ? 'in chunks' : 'of a known length'}`, async t => {
    const { entrance, finish, handled } = await open(t);
    let refused = 0;
    const answers = Array.from({ length: COUNT }, async () => {
      const answer = await send(entrance.port, large, isChunked);
      if (answer.startsWith('HTTP/1.1 503')) refused += 1;
      return answer;
    });
    await until(() => refused + handled() === COUNT, { what: 'every request to be refused or to be handled' });
    t.ok(handled() <= 1, 'one at a time');
    for (let count = 0; count < 10; count += 1) {
      t.equal((await entrance.request('POST', '/small', { json: { a: 1 } })).status, 200, 'a small one passes');
    }
    finish();
    const refusals = (await Promise.all(answers)).filter(answer => answer.startsWith('HTTP/1.1 503'));
    for (const answer of refusals) t.match(answer, /retry-after: 1\r\n.*"detail":"Too many large requests/is);

    for (let count = 0; count < 5; count += 1) {
      t.match(await send(entrance.port, large, isChunked), /^HTTP\/1\.1 200/, 'nothing stays taken');
    }
  });
}

t.test('a body that is cut off gives back what it took', async t => {
  const { entrance, finish } = await open(t);
  finish();
  for (let count = 0; count < 5; count += 1) {
    const socket = connect(entrance.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = [
      'POST /large HTTP/1.1',
      'Host: nas',
      'Content-Type: application/json',
      `Content-Length: ${LARGE_BYTES}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{"text":"`);
    await turn();
    socket.destroy();
  }
  const answer = await until(
    async () => {
      const text = await send(entrance.port, large, false);
      return text.startsWith('HTTP/1.1 503') ? undefined : text;
    },
    { what: 'room for the next' },
  );
  t.match(answer, /^HTTP\/1\.1 200/);
});
