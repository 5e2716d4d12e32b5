// A server of files with TLS on a real socket. It answers as it is told, well or badly, and may serve parts of files.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { unknownCertificate } from './unknown-certificate.ts';

export interface FileRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ServedFile {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are sent as they are, anything else as JSON. Default: an empty body. */
  readonly body?: unknown;
  /** Closes the connection after so many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** Whether the server honours requests for a range. Default: true. */
  readonly takesRanges?: boolean;
}

/** `endless` sends without end, `silent` sends a part and then nothing, `hang` never answers. */
export type ServerFault = 'endless' | 'hang' | 'reset' | 'silent';

export type FileAnswers = (request: FileRequest) => ServedFile | ServerFault | undefined;

export interface FileServer {
  /** The address without a path. */
  readonly base: string;
  readonly requests: readonly FileRequest[];
  close(): Promise<void>;
}

/** Cuts the first answer for each path in the middle of its body. */
export function cutOnce(answers: FileAnswers): FileAnswers {
  const cut = new Set<string>();
  return request => {
    const answer = answers(request);
    if (typeof answer !== 'object' || !(answer.body instanceof Uint8Array) || cut.has(request.path)) return answer;
    cut.add(request.path);
    return { ...answer, cutAfterBytes: Math.ceil(answer.body.length / 2) };
  };
}

/** Where `answers` gives undefined, the answer is 404. */
export async function openFileServer(answers: FileAnswers): Promise<FileServer> {
  const requests: FileRequest[] = [];
  const server = createServer(unknownCertificate, (incoming, response) => {
    response.on('error', () => response.destroy());
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers };
    requests.push(request);
    const answer = answers(request) ?? { status: 404, body: 'not found' };
    if (typeof answer === 'string') fail(answer, incoming, response);
    else serve(answer, request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `https://localhost:${port}`,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function serve(
  { status = 200, headers = {}, body = '', cutAfterBytes = Number.POSITIVE_INFINITY, takesRanges = true }: ServedFile,
  { method, headers: asked }: FileRequest,
  response: ServerResponse,
): void {
  const whole =
    typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const from = takesRanges && status === 200 ? Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? 0) : 0;
  const part = whole.subarray(from);
  const range = from === 0 ? {} : { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` };
  response.writeHead(from === 0 ? status : 206, { 'content-length': String(part.length), ...range, ...headers });
  if (method === 'HEAD' || part.length <= cutAfterBytes) response.end(method === 'HEAD' ? undefined : part);
  else response.write(part.subarray(0, cutAfterBytes), () => response.destroy());
}

function fail(fault: ServerFault, { socket }: IncomingMessage, response: ServerResponse): void {
  if (fault === 'hang') return;
  if (fault === 'reset') return void socket.destroy();
  response.writeHead(200);
  if (fault === 'silent') return void response.write('a part');
  const more = (): void => {
    if (!response.destroyed) response.write('x'.repeat(64 * 1024), () => setImmediate(more));
  };
  more();
}
