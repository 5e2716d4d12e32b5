// Removes the host's tokens from requests for interfaces, because a service that has a user's token could act as that
// user.
import { percentDecoded } from '#kit/percent-decoded';

export class OwnCredentials {
  readonly #isOwn: (authorization: string) => boolean;

  /** `isOwn` says of the value of an `Authorization` header whether it is for the host. */
  constructor(isOwn: (authorization: string) => boolean) {
    this.#isOwn = isOwn;
  }

  isHeader(authorization: string): boolean {
    return this.#isOwn(authorization);
  }

  /** The path without the host's tokens: clients of streams send theirs in the query. */
  pathWithout(path: string): string {
    const at = path.indexOf('?');
    if (at < 0) return path;
    const parts = path.slice(at + 1).split('&');
    const kept = parts.filter(part => !this.#isPart(part));
    return kept.length === parts.length ? path : `${path.slice(0, at + 1)}${kept.join('&')}`;
  }

  cookieWithout(cookie: string): string {
    return cookie
      .split(';')
      .filter(part => !this.#isPart(part))
      .join(';');
  }

  /** Whether the value behind `=` is a token of the host. */
  #isPart(part: string): boolean {
    const value = percentDecoded(part.slice(part.indexOf('=') + 1).trim());
    return value !== '' && this.#isOwn(`Bearer ${value}`);
  }
}
