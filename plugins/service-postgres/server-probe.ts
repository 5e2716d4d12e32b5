// Checks whether the server accepts clients: during recovery it listens already but refuses them. Source: PostgreSQL's
// manual, "Message Formats" (StartupMessage, ErrorResponse) and "Error Codes"; pg_isready does the same.
import { connect } from 'node:net';
import { clientHost } from '#kit/client-host';
import { lacksDescriptors } from '#kit/descriptors';
import type { HealthReport } from '../process/contract.ts';

/** `starting`: the server does not accept clients yet. `silent`: it does not answer as PostgreSQL does. */
type ServerAnswer = 'accepts' | 'starting' | 'silent';

const PROTOCOL_3_0 = 196_608;
const CANNOT_CONNECT_NOW = '57P03';
const ANSWER_LIMIT_MS = 2_500;
const MAX_BYTES = 64 * 1024;

/** undefined when the block has no port. */
export async function checkServer(block: Readonly<Record<string, unknown>>): Promise<HealthReport | undefined> {
  const { port, user = 'postgres' } = block;
  if (typeof port !== 'number') return undefined;
  const host = clientHost(block.host);
  const details = { probe: 'postgresql', host, port };
  const answer = await ask(host, port, String(user));
  if (answer === 'accepts') return { status: 'healthy', healthy: true, reason: null, details };
  if (answer === 'starting') return { status: 'starting', healthy: true, reason: 'It takes no clients yet', details };
  return { status: 'unhealthy', healthy: false, reason: `Port ${host}:${port} does not answer as PostgreSQL`, details };
}

/**
 * Needs no password: a request for one, or a refusal for another reason than the server's state, shows that it accepts
 * clients.
 */
function ask(host: string, port: number, user: string): Promise<ServerAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let received = Buffer.alloc(0);
    const end = (answer: ServerAnswer): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(answer);
    };
    const limit = setTimeout(() => end('silent'), ANSWER_LIMIT_MS);
    socket.once('connect', () => socket.write(startupMessage(user)));
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      const answer = received.length > MAX_BYTES ? 'silent' : answerIn(received);
      if (answer !== undefined) end(answer);
    });
    socket.once('error', error => {
      if (lacksDescriptors(error)) reject(error);
      end('silent');
    });
    socket.once('close', () => end('silent'));
  });
}

function startupMessage(user: string): Buffer {
  const parameters = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(PROTOCOL_3_0, 4);
  return Buffer.concat([head, parameters]);
}

/**
 * The answer in a message; undefined while it is incomplete. Format: one byte of type, a length that includes itself,
 * then in an error fields of a letter and a zero-terminated text.
 */
function answerIn(received: Buffer): ServerAnswer | undefined {
  if (received.length < 5) return undefined;
  const type = received.toString('latin1', 0, 1);
  if (type === 'R') return 'accepts';
  if (type !== 'E') return 'silent';
  const end = 1 + received.readInt32BE(1);
  if (received.length < end) return undefined;
  const fields = received.toString('latin1', 5, end).split('\0');
  return fields.includes(`C${CANNOT_CONNECT_NOW}`) ? 'starting' : 'accepts';
}
