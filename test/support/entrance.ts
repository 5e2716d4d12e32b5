// Opens the HTTP server of a host on a free port without a host, for tests of HTTP and WebSocket alone.
import { connect } from 'node:net';
import type { Logger } from '../../core/contract/log.ts';
import type { AccessCheck, Route } from '../../core/contract/route.ts';
import type { Stream } from '../../core/contract/stream.ts';
import { createHttpEntrance, type EntranceOptions, type HttpServer } from '../../core/host/entrance.ts';
import { type Fault, testOwner } from './owner.ts';

/** An owner of routes and streams is given by its name. */
interface NamedHttpServer extends Omit<HttpServer, 'addRoute' | 'addStream'> {
  addRoute(plugin: string, route: Route): () => void;
  addStream(plugin: string, stream: Stream): () => void;
}

export interface TestEntrance {
  readonly http: NamedHttpServer;
  readonly port: number;
  readonly base: string;
  readonly faults: Fault[];
  readonly lines: string[];
  /** Names of the owners whose code ran, in order. */
  readonly ran: string[];
  access: AccessCheck | undefined;
  config: Record<string, unknown>;
  stopping: boolean;
  request(method: string, path: string, options?: RequestInit & { json?: unknown }): Promise<TestAnswer>;
  /** Sends the text unchanged over a new connection and resolves with everything received until it is closed. */
  raw(text: string): Promise<string>;
  close(): Promise<void>;
}

interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
}

export async function openEntrance(
  configDir: string,
  options: Partial<Pick<EntranceOptions, 'checkAnswers' | 'pingMs' | 'unreadMs' | 'requestMs'>> = {},
): Promise<TestEntrance> {
  const faults: Fault[] = [];
  const lines: string[] = [];
  const ran: string[] = [];
  const write = (level: string) => (message: string, error?: unknown) => {
    lines.push(`${level} ${message}${error instanceof Error ? ` ${error.message}` : ''}`);
  };
  const log: Logger = { debug: write('DEBUG'), info: write('INFO'), warn: write('WARNING'), error: write('ERROR') };
  const http = createHttpEntrance({
    ...options,
    log,
    configDir,
    version: '1.2.3',
    config: () => entrance.config,
    service: name => (name === 'access' ? entrance.access : undefined),
    stopping: () => entrance.stopping,
  });
  const { port } = await http.listen({ host: '127.0.0.1', port: 0, retryMs: 0 });
  const base = `http://127.0.0.1:${port}`;
  const notes = { faults, ran };
  const entrance: TestEntrance = {
    http: {
      ...http,
      addRoute: (plugin, route) => http.addRoute(testOwner(plugin, notes), route),
      addStream: (plugin, stream) => http.addStream(testOwner(plugin, notes), stream),
    },
    port,
    base,
    faults,
    lines,
    ran,
    access: undefined,
    config: {},
    stopping: false,
    async request(method, path, { json, ...init } = {}) {
      const answer = await fetch(base + path, {
        method,
        redirect: 'manual',
        ...init,
        ...(json === undefined ? {} : { body: JSON.stringify(json), headers: { 'Content-Type': 'application/json' } }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        body: isJson && text !== '' ? JSON.parse(text) : undefined,
      };
    },
    raw: text =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1');
        let received = '';
        socket.setEncoding('utf8');
        socket.on('data', (chunk: string) => {
          received += chunk;
        });
        socket.on('error', reject);
        socket.on('close', () => resolve(received));
        socket.write(text);
      }),
    close: () => http.close(0),
  };
  return entrance;
}

/** An access check that finds the user name of a token in `tokens`; a test revokes a token by deleting it there. */
export function tokenAccess(
  tokens: Map<string, string>,
  problem: (detail: string) => Error,
): AccessCheck & { revoke(): void } {
  const listeners = new Set<() => void>();
  return {
    enabled: () => true,
    check({ authorization }) {
      const token = /^bearer (.+)$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) throw problem('Authentication required');
      const username = tokens.get(token);
      if (username === undefined) throw problem('Invalid or expired token');
      return { username };
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    revoke() {
      for (const listener of listeners) listener();
    },
  };
}
