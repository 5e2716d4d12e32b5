// Publishers of programs on one real socket: each of their hosts is a path, as behind a mirror.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { FileAnswers, ServedFile } from '../contracts/file-server.ts';
import { zip } from './archive-bytes.ts';

export interface Vendors {
  /** A value for `dumb.install_mirrors`. */
  readonly mirrors: Readonly<Record<string, string>>;
  /** `<host><path>` of each request. */
  readonly asked: readonly string[];
}

export async function openVendors(t: Test, hosts: Readonly<Record<string, FileAnswers>>): Promise<Vendors> {
  const asked: string[] = [];
  const server = createServer(({ method = '', url = '', headers }, response) => {
    const [, host = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(url) ?? [];
    asked.push(`${host}${path}`);
    const answer = hosts[host]?.({ method, path, headers }) ?? { status: 404 };
    if (typeof answer === 'string') throw new Error('faults are not served here');
    const { status = 200, headers: told = {}, body = '' } = answer;
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    response.writeHead(status, { ...told }).end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, mirrors: Object.fromEntries(Object.keys(hosts).map(host => [host, `${base}/${host}`])) };
}

export interface Repository {
  readonly tag: string;
  /** The files of the release, by name. */
  readonly assets?: Readonly<Record<string, Buffer>>;
  /** The files of the sources, which are the same for every tag and commit. */
  readonly sources?: Readonly<Record<string, string | Buffer>>;
}

/** Answers of the API of GitHub and of its hosts for sources and release files, for repositories by `owner/name`. */
export function github(repositories: Readonly<Record<string, Repository>>): Readonly<Record<string, FileAnswers>> {
  const found = (path: string) => {
    const [, name = '', rest = ''] = /^(?:\/repos)?\/([^/]+\/[^/]+)\/(.*)$/.exec(path) ?? [];
    const repository = repositories[name];
    return repository && { name, rest, repository };
  };
  const api: FileAnswers = ({ path }) => {
    const { name = '', rest = '', repository } = found(path) ?? {};
    if (repository === undefined) return undefined;
    const [, commit] = /^commits\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (commit !== undefined) return { body: { sha: commit } };
    if (rest.startsWith('zipball/'))
      return { status: 302, headers: { location: `https://codeload.github.com/${name}/${rest}` } };
    if (rest === 'releases/latest') return { body: releaseOf(name, repository) };
    return rest.startsWith('releases?') ? { body: [releaseOf(name, repository)] } : undefined;
  };
  return {
    'api.github.com': api,
    'codeload.github.com': ({ path }) => {
      const { name = '', repository } = found(path) ?? {};
      return repository && sourcesOf(name, repository);
    },
    'github.com': ({ path }) => {
      const { rest = '', repository } = found(path) ?? {};
      const body = repository?.assets?.[rest.slice(rest.lastIndexOf('/') + 1)];
      return body && { body };
    },
  };
}

function releaseOf(name: string, { tag, assets = {} }: Repository) {
  const download = `https://github.com/${name}/releases/download/${tag}`;
  return {
    tag_name: tag,
    html_url: `https://github.com/${name}/releases/tag/${tag}`,
    published_at: '2026-01-01T00:00:00Z',
    assets: Object.keys(assets).map((file, id) => ({ id, name: file, browser_download_url: `${download}/${file}` })),
  };
}

/** An archive of the sources; all files lie in one folder. */
function sourcesOf(name: string, { sources = {} }: Repository): ServedFile {
  const top = `${name.replace('/', '-')}-0123456`;
  return { body: zip(Object.entries(sources).map(([file, content]) => ({ name: `${top}/${file}`, content }))) };
}
