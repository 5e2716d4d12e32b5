// Sends requests as bytes, so that they can be such as no client would make.
import { connect } from 'node:net';

/** The answer to these lines over a connection of its own, until it is closed or becomes a stream. */
export function raw(port: number, lines: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      // A stream that was opened goes on.
      if (text.startsWith('HTTP/1.1 101')) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1]), text }));
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });
}

/** The bytes by which a client asks for a stream, for a connection that it then uses as it likes. */
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
