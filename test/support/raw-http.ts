// Sends requests as bytes, including requests that no client would send.
import { connect } from 'node:net';

/** Sends these lines over a new connection, and gives the answer once the connection is closed or becomes a stream. */
export function raw(port: number, lines: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      // An upgraded connection would stay open.
      if (text.startsWith('HTTP/1.1 101')) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1]), text }));
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });
}

/** The bytes of a handshake for a WebSocket stream, for a connection on which a test then sends bytes of its own. */
export function handshakeTo(stream: string): string {
  return [
    `GET ${stream} HTTP/1.1`,
    'Host: nas',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    '\r\n',
  ].join('\r\n');
}
