// Bare node:http in a process of its own. It fetches the answer to each kind of request once from another server, and
// repeats those bytes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface BareServer {
  readonly pid: number;
  readonly base: string;
  end(): Promise<void>;
}

/** `source` is the address, without a path, of the server whose answers are repeated. */
export async function startBareServer(source: string): Promise<BareServer> {
  const child = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    pid: child.pid ?? 0,
    base: `http://127.0.0.1:${String(port).trim()}`,
    async end() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function serve(source: string): void {
  const known = new Map<string, Buffer>();
  const first = async (request: IncomingMessage, body: Buffer | undefined): Promise<Buffer> => {
    const { method = 'GET', url = '/' } = request;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(source + url, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!answer.ok) throw new Error(`${method} ${url} answers ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  };
  const server = createServer(async (request, response) => {
    const key = `${request.method} ${request.url}`;
    const body = request.method === 'GET' ? undefined : await bodyOf(request);
    const bytes = known.get(key) ?? (await first(request, body));
    known.set(key, bytes);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}

const [, script, source] = process.argv;
if (script === fileURLToPath(import.meta.url) && source !== undefined) serve(source);
