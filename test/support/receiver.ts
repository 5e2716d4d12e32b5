// A receiver of webhooks on a free port: keeps the messages, and answers as the test wants.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of any shape
  readonly body: any;
  readonly atMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: ReceivedMessage[];
  /** Messages to this path. */
  at(path: string): ReceivedMessage[];
  /** Answers the next requests; by default with 200. */
  answer: (message: ReceivedMessage, response: ServerResponse) => void;
}

export async function startReceiver(t: Pick<Test, 'teardown'>): Promise<Receiver> {
  const received: ReceivedMessage[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const message = {
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
      atMs: performance.now(),
    };
    received.push(message);
    receiver.answer(message, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at: path => received.filter(message => message.path === path),
    answer: (_, response) => void response.end(),
  };
  return receiver;
}
