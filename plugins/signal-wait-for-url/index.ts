// Signal: a service needs the services whose URLs it waits for, found by name, by host or route, or by a local port.
import { definePlugin } from '#core';
import type { GraphEntry, GraphSnapshot } from '../dependency-graph/contract.ts';

const LOCAL = new Set(['127.0.0.1', 'localhost', '0.0.0.0', '[::1]']);

export default definePlugin({
  name: 'signal-wait-for-url',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'wait_for_url', {
      signal: 'wait_for_url',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Services whose answer it waits for before it starts',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          waitsOf(entry.config.wait_for_url)
            .flatMap(wait => provided(wait, entry, snapshot))
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName })),
        ),
      }),
    });
  },
});

function waitsOf(value: unknown): Record<string, unknown>[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  return list.map(wait =>
    typeof wait === 'object' && wait !== null ? (wait as Record<string, unknown>) : { url: wait },
  );
}

function provided(wait: Record<string, unknown>, entry: GraphEntry, snapshot: GraphSnapshot): GraphEntry[] {
  const url = parse(wait.url);
  const isLocal = url !== undefined && LOCAL.has(url.hostname);
  const host = url === undefined || isLocal ? [] : [url.hostname];
  const route = /\/ui\/([^/]+)/.exec(url?.pathname ?? '')?.[1];
  const references = [...host, ...(route === undefined ? [] : [route])];
  const named = [
    ...snapshot.namedBy(wait, entry),
    ...references.flatMap(reference => snapshot.resolve(reference, entry)),
  ];
  return isLocal ? [...named, ...snapshot.listenersOn(portOf(url), entry)] : named;
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function parse(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}
