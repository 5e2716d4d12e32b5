// Starts a real host on a free port with a configuration directory of its own, and gives clients for it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { createHost } from '../../core/host/host.ts';
import type { HostOptions, StackwardenHost } from '../../core/host/host-options.ts';
import { pluginNames, pluginsDir, withNeeds } from './needs.ts';
import { PACE } from './pace.ts';

export { pluginNames, pluginsDir };

/** How the names of plugins that fetch programs begin. */
const SOURCES = 'install-';
/** How the names of plugins begin that take no part in the setup and the start of services. */
const ASIDE = /^(?:ai|console|database|docs|metrics|migration|notif|postgres|prometheus|request|symlinks|updates)/;
/** What tests of processes need. */
const DEFAULT_PLUGINS = ['config', 'process', 'auto-restart', 'health-probe'];

export interface TestHostOptions extends Partial<Omit<HostOptions, 'plugins'>> {
  /**
   * The plugins that the test is about; those that they need are added. Default: processes and configuration, or
   * everything in `pluginDirs` where the test gives some. `all`: every plugin of the product; `offline`: all but those
   * that fetch programs from the internet; `services`: those of `offline` that take part in the setup and the start of
   * services, which is half of the processor time of a start.
   */
  readonly plugins?: readonly string[] | 'all' | 'offline' | 'services';
  /** Written as stackwarden.json before the start. Unless it says otherwise, the gateway is off and ports are free. */
  readonly config?: Record<string, unknown>;
}

interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly body: any;
}

interface RequestOptions {
  readonly json?: unknown;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export interface TestHost {
  readonly host: StackwardenHost;
  readonly base: string;
  readonly configDir: string;
  request(method: string, pathAndQuery: string, options?: RequestOptions): Promise<TestAnswer>;
  get(pathAndQuery: string, headers?: Record<string, string>): Promise<TestAnswer>;
  post(pathAndQuery: string, json?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  ws(pathAndQuery: string): WebSocket;
  /** Stops the host and removes its configuration directory unless the test gave one. */
  stop(): Promise<void>;
}

export async function startHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { config, plugins = options.pluginDirs === undefined ? DEFAULT_PLUGINS : 'all', ...hostOptions } = options;
  const chosen = plugins === 'all' ? {} : { plugins: await chosenPlugins(plugins) };
  const configDir = options.configDir ?? (await mkdtemp(path.join(tmpdir(), 'stackwarden-test-')));
  const dumb = (config?.dumb ?? {}) as Record<string, unknown>;
  const written = {
    puid: 65_534,
    pgid: 65_534,
    ...config,
    dumb: { log_dir: path.join(configDir, 'log'), gateway: { enabled: false }, ...dumb },
  };
  if (config !== undefined || options.configDir === undefined) {
    await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(written, null, 4));
  }
  const withdraw = async () => {
    if (options.configDir === undefined) await rm(configDir, { recursive: true, force: true });
  };
  const host = await createHost({
    configDir,
    listen: { port: 0 },
    ownsProcess: false,
    checkAnswers: true,
    pace: PACE,
    // A disposer that is no longer awaited would go on writing into the directory while the test removes it.
    deadlines: { importMs: 60_000, setupMs: 60_000, disposeMs: 60_000 },
    ...chosen,
    ...hostOptions,
  }).catch(async (error: unknown) => {
    await withdraw();
    throw error;
  });
  const base = `http://127.0.0.1:${host.address?.port}`;
  const send = async (method: string, pathAndQuery: string, { json, body, headers }: RequestOptions = {}) => {
    const answer = await request(base + pathAndQuery, {
      method: method as 'GET',
      headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: json === undefined ? (body ?? null) : JSON.stringify(json),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, body: parse(text) };
  };
  return {
    host,
    base,
    configDir,
    request: send,
    get: (pathAndQuery, headers) => send('GET', pathAndQuery, headers === undefined ? {} : { headers }),
    post: (pathAndQuery, json, headers) =>
      send('POST', pathAndQuery, {
        ...(json === undefined ? {} : { json }),
        ...(headers === undefined ? {} : { headers }),
      }),
    ws: pathAndQuery => new WebSocket(base.replace('http', 'ws') + pathAndQuery),
    async stop() {
      await host.stop();
      await withdraw();
    },
  };
}

/**
 * Creates the first user, and gives the same host with clients that are logged in as that user. Needs the plugin auth.
 */
export async function asOwner(app: TestHost): Promise<TestHost> {
  const { body } = await app.post('/auth/setup', { username: 'owner', password: 'correct horse' });
  const owner = { authorization: `Bearer ${body.access_token}` };
  return {
    ...app,
    get: pathAndQuery => app.get(pathAndQuery, owner),
    post: (pathAndQuery, json) => app.post(pathAndQuery, json, owner),
  };
}

async function chosenPlugins(plugins: readonly string[] | 'offline' | 'services'): Promise<string[]> {
  if (typeof plugins !== 'string') return withNeeds(plugins);
  const offline = (await pluginNames()).filter(name => !name.startsWith(SOURCES));
  return plugins === 'offline' ? offline : withNeeds(offline.filter(name => !ASIDE.test(name)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
