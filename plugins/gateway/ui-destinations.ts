// Finds the interface for which a request is meant, and the path to ask its service for.
import type { IncomingMessage } from 'node:http';
import { percentDecoded } from '#kit/percent-decoded';
import type { ServiceUi } from '../service-ui/contract.ts';
import type { OwnCredentials } from './own-credentials.ts';

const UI_PATH = /^(\/(?:service\/)?ui\/([^/?#]+))(?=[/?#]|$)/;
/**
 * Names the interface that was opened last, because the handshake of a WebSocket does not name the page that opens it.
 */
export const COOKIE_NAME = 'dumb_ui_service';

export interface Destination {
  readonly ui: ServiceUi;
  /** Path and query that the service is asked for. */
  readonly path: string;
  /** Path below which the interface is served, as `X-Forwarded-Prefix` tells its service. */
  readonly prefix: string;
}

export interface UiDestinationsOptions {
  readonly listUis: () => readonly ServiceUi[];
  readonly behindFrontend: boolean;
  readonly credentials: OwnCredentials;
}

/** The beginning of the URL that names an interface, and that name; both are undefined where none is named. */
export function namedUi(url: string): { readonly prefix: string | undefined; readonly name: string | undefined } {
  const [, prefix, name] = UI_PATH.exec(url) ?? [];
  return { prefix, name };
}

export class UiDestinations {
  readonly #options: UiDestinationsOptions;

  constructor(options: UiDestinationsOptions) {
    this.#options = options;
  }

  /**
   * The interface that the path names. When it names none, that of the page that sends the request; for a WebSocket
   * whose page is unknown, the interface that was opened last.
   */
  find({ url = '/', headers, method }: IncomingMessage): Destination | undefined {
    const { prefix, name } = namedUi(url);
    if (prefix !== undefined && name !== undefined) {
      const ui = this.#named(name);
      return ui && this.#destination(ui, pathWithin(ui, url.slice(prefix.length)));
    }
    const opened = this.#opened(headers, method === 'GET' && headers.upgrade !== undefined);
    return opened && this.#destination(opened, url);
  }

  /** Whether this path from the root names an interface. */
  knows(path: string): boolean {
    const { name } = namedUi(path);
    return name !== undefined && this.#named(name) !== undefined;
  }

  #destination(ui: ServiceUi, path: string): Destination {
    const { behindFrontend, credentials } = this.#options;
    const prefix = `${behindFrontend ? '/service/ui' : '/ui'}/${ui.name}`;
    return { ui, path: credentials.pathWithout(path), prefix };
  }

  #named(name: string): ServiceUi | undefined {
    return this.#options.listUis().find(ui => ui.name === percentDecoded(name).toLowerCase());
  }

  #opened({ referer, host, cookie }: IncomingMessage['headers'], isUpgrade: boolean): ServiceUi | undefined {
    if (referer !== undefined && URL.canParse(referer)) {
      const page = new URL(referer);
      const isOurs = this.#options.behindFrontend || page.host === host;
      const { name } = isOurs ? namedUi(page.pathname) : {};
      if (name !== undefined) return this.#named(name);
    }
    // The handshake of a WebSocket carries no Referer.
    const [, last] = isUpgrade ? (new RegExp(`(?:^|;\\s*)${COOKIE_NAME}=([^;]*)`).exec(cookie ?? '') ?? []) : [];
    return last === undefined ? undefined : this.#named(last);
  }
}

/** The path to ask the service for: its landing page for the root, its own prefix before folders that it has there. */
function pathWithin({ entryPath, pathPrefix, foldersBelowPrefix }: ServiceUi, rest: string): string {
  if (rest === '' || rest === '/') return entryPath === '' ? rest : entryPath;
  const [, folder] = /^\/([^/?#]+)/.exec(rest) ?? [];
  if (pathPrefix === undefined || folder === undefined) return rest;
  const isMoved = /^\/index\.html(?=[?#]|$)/.test(rest) || foldersBelowPrefix.includes(folder);
  return isMoved ? pathPrefix + rest : rest;
}
