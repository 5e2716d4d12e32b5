// Large answers that nobody reads share one budget of memory and wait for a limited time; who reads gets all of his.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { answer } from '../../core/contract/route.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance, type TestEntrance } from '../support/entrance.ts';
import { until } from '../support/until.ts';

const ANSWER_BYTES = 12 * 1024 * 1024;
const SILENT = 6;

async function open(t: Test, options: { unreadMs?: number } = {}): Promise<TestEntrance & { asked(): number }> {
  const entrance = await openEntrance(testDir(t), options);
  t.teardown(() => entrance.close());
  const text = 'x'.repeat(ANSWER_BYTES);
  let asked = 0;
  const handle = (): object => {
    asked += 1;
    return { text };
  };
  entrance.http.addRoute('a', { method: 'GET', path: '/large', summary: 'large', handle });
  return { ...entrance, asked: () => asked };
}

/** Asks and reads nothing. */
function ask(t: Test, port: number, path = '/large'): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n\r\n`);
  return socket;
}

/** How many bytes come after all. */
async function read(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  return bytes;
}

/** How many answers have ended, in whatever way. */
const ended = ({ lines }: TestEntrance) => lines.filter(line => line.includes('GET /large 200')).length;

t.test('the one that is unread longest is cut off', async t => {
  const entrance = await open(t);
  const silent: Socket[] = [];
  for (let count = 1; count <= SILENT; count += 1) {
    silent.push(ask(t, entrance.port));
    // Two of them are within 32 MiB.
    await until(() => entrance.asked() === count && ended(entrance) === Math.max(0, count - 2), {
      what: `answer ${count}, and the cut of what is over the budget`,
    });
  }
  const reader = await entrance.request('GET', '/large');
  t.equal(reader.body.text.length, ANSWER_BYTES, 'one that reads gets all');
  const received = await Promise.all(silent.map(read));
  t.ok(
    received.slice(0, SILENT - 2).every(bytes => bytes < ANSWER_BYTES),
    'the others got a part',
    { received },
  );
  t.ok((received.at(-1) ?? 0) > ANSWER_BYTES, 'the last is whole once it is read');
});

t.test('an answer that nobody reads ends', async t => {
  const entrance = await open(t, { unreadMs: 50 });
  const socket = ask(t, entrance.port);
  await until(() => ended(entrance) === 1, { what: 'the cut' });
  t.ok((await read(socket)) < ANSWER_BYTES);
});

t.test('a stream whose client stops reading ends, and its source with it', async t => {
  const entrance = await open(t, { unreadMs: 50 });
  const source = new Readable({
    read() {
      this.push('x'.repeat(65_536));
    },
  });
  const route = { method: 'GET', path: '/endless', summary: 'endless', handle: () => answer(source) } as const;
  entrance.http.addRoute('a', route);
  ask(t, entrance.port, '/endless');
  await once(source, 'close');
  t.same(entrance.faults, [], 'that is no fault of the plugin');
});

t.test('what one client asks for without reading is answered in turn', async t => {
  const entrance = await open(t);
  const handle = () => ({ ok: true });
  entrance.http.addRoute('a', { method: 'GET', path: '/small', summary: 'small', handle });
  const requests = (count: number, path = '/large'): string =>
    `GET ${path} HTTP/1.1\r\nHost: nas\r\n\r\n`.repeat(count);
  const socket = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  socket.pause().write(requests(8));
  await until(() => entrance.asked() > 0, { what: 'the first answer' });
  t.equal((await entrance.request('GET', '/large')).status, 200);
  t.equal(entrance.asked(), 2, 'its own next one is not even begun');

  const eager = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  eager.on('data', chunk => {
    text += chunk;
  });
  eager.write(`${requests(5, '/small')}GET /small HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n\r\n`);
  await once(eager, 'close');
  t.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 6, 'a few are all answered, in order');

  const flood = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
  flood.resume().write(requests(1_000));
  await once(flood, 'close');
  t.equal(entrance.asked(), 3, 'a flood ends its connection');
});
