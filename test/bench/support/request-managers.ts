// Runs request managers in a process of their own: a primary, and subordinates that hold the same requests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ManagerCall } from '../../support/request-journal.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';

const HOUR_MS = 3_600_000;
const thisFile = fileURLToPath(import.meta.url);

export interface Traffic {
  /** Numbers of calls by manager, the primary first. */
  readonly calls: readonly number[];
  readonly writes: number;
  /** Milliseconds from the first call to the end of the last. */
  readonly durationMs: number;
}

export interface RequestManagers {
  readonly urls: readonly string[];
  readonly apiKeys: readonly string[];
  /** The traffic since the last reset; `isLast` resets it. */
  traffic(isLast?: boolean): Promise<Traffic>;
  /** Adds so many requests on the primary, as by people. */
  ask(count: number): Promise<void>;
  end(): Promise<void>;
}

type Order = { readonly ask: number } | { readonly isLast: boolean };

export async function startRequestManagers(requests: number, subordinates: number): Promise<RequestManagers> {
  const args = ['--import=tsx', thisFile, String(requests), String(subordinates)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const tell = async (order?: Order): Promise<unknown> => {
    const told = once(child, 'message');
    if (order !== undefined) child.send(order);
    return (await told)[0];
  };
  const { urls, apiKeys } = (await tell()) as Pick<RequestManagers, 'urls' | 'apiKeys'>;
  return {
    urls,
    apiKeys,
    traffic: async (isLast = false) => (await tell({ isLast })) as Traffic,
    ask: async count => void (await tell({ ask: count })),
    async end() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Every third title is a series. */
function titleOf(index: number) {
  return index % 3 === 0
    ? ({ mediaType: 'tv', tmdbId: index + 1, seasons: [1, 2] } as const)
    : ({ mediaType: 'movie', tmdbId: index + 1 } as const);
}

async function serve(requests: number, subordinates: number): Promise<void> {
  const names = ['primary', ...Array.from({ length: subordinates }, (_, index) => `subordinate ${index + 1}`)];
  // One request was made each hour, so that most are old.
  let nowMs: number | undefined = Date.now() - requests * HOUR_MS;
  const clock = (): number => nowMs ?? Date.now();
  const servers = await Promise.all(
    names.map(name => startRequestManager({ teardown: () => undefined }, { name, apiKey: `key of ${name}`, clock })),
  );
  const managers = servers.map(({ manager }) => manager);
  const [primary] = managers;
  if (primary === undefined) throw new Error('there is no primary');
  for (let index = 0; index < requests; index += 1) {
    for (const manager of managers) manager.ask(titleOf(index));
    nowMs += HOUR_MS;
  }
  nowMs = undefined;
  let asked = requests;
  let calls = managers.map(() => 0);
  let writes = 0;
  let firstMs: number | undefined;
  let lastMs = 0;
  for (const [index, manager] of managers.entries()) {
    manager.faultOf = ({ method }: ManagerCall) => {
      calls[index] = (calls[index] ?? 0) + 1;
      if (method !== 'GET') writes += 1;
      firstMs ??= performance.now();
      setImmediate(() => {
        lastMs = performance.now();
      });
      return undefined;
    };
  }
  process.on('message', (order: Order) => {
    if ('ask' in order) {
      for (let count = 0; count < order.ask; count += 1, asked += 1) primary.ask(titleOf(asked));
      process.send?.('asked');
      return;
    }
    process.send?.({ calls, writes, durationMs: lastMs - (firstMs ?? lastMs) } satisfies Traffic);
    if (order.isLast) [calls, writes, firstMs, lastMs] = [managers.map(() => 0), 0, undefined, 0];
  });
  process.once('disconnect', () => process.exit());
  process.send?.({ urls: servers.map(({ url }) => url), apiKeys: managers.map(({ apiKey }) => apiKey) });
}

const [, script, requests, subordinates] = process.argv;
if (script === thisFile) await serve(Number(requests), Number(subordinates));
