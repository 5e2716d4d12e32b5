// Reads one repository of a container registry without an account, as the OCI distribution specification describes.
import { z } from 'zod';
import { type FetchAnswer, Problem } from '#core';
import { statusFault } from '#kit/server-fault';
import { toldUrl } from '#kit/told-url';
import type { SourceRequest } from '../installs/contract.ts';
import { type BearerChallenge, bearerChallenge } from './bearer-challenge.ts';
import { isDigest } from './image-reference.ts';
import { digestOf, type ImageDescriptor, MANIFEST_TYPES } from './manifest.ts';

const DOCUMENT_MAX_BYTES = 4 * 1024 * 1024;
const TOKEN_MAX_BYTES = 64 * 1024;
/** Shorter than the life of any token, which is at least a minute. */
const TOKEN_AGE_MS = 50_000;
/** A token must be allowed as the value of a header. */
const tokenText = z.string().regex(/^[\x21-\x7e]{1,20000}$/);
const tokenAnswer = z.union([
  z.object({ token: tokenText }).transform(({ token }) => token),
  z.object({ access_token: tokenText }).transform(({ access_token }) => access_token),
]);

export interface RegistryDocument {
  readonly digest: string;
  readonly value: unknown;
}

interface Token {
  readonly text: string;
  readonly since: number;
}

export class Registry {
  readonly #request: Pick<SourceRequest, 'fetch' | 'signal'>;
  readonly #base: URL;
  readonly #image: string;
  /** Where tokens are requested; null when the registry wants none, undefined while that is unknown. */
  #challenge: BearerChallenge | null | undefined;
  #token: Token | undefined;

  /** `image` is the name of the repository in the registry, whose address is `url`. */
  constructor(request: Pick<SourceRequest, 'fetch' | 'signal'>, url: string, image: string) {
    this.#request = request;
    this.#base = new URL(`/v2/${image}/`, url);
    this.#image = image;
  }

  /**
   * A manifest or an index by its tag or digest; undefined when the registry has none. Throws a Problem 502 when the
   * document does not have the expected digest.
   */
  async document(reference: string): Promise<RegistryDocument | undefined> {
    const url = new URL(`manifests/${reference}`, this.#base);
    const answer = await this.#ask(url, { accept: MANIFEST_TYPES.join(', ') });
    if (answer.status === 404) return undefined;
    const told = isDigest(reference) ? reference : answer.headers['docker-content-digest'];
    return this.#checked(answer, url, told);
  }

  /** The configuration of an image. Throws a Problem 502, also when it does not have the digest in the manifest. */
  async config({ digest, size }: ImageDescriptor): Promise<unknown> {
    if (size > DOCUMENT_MAX_BYTES)
      throw new Problem(502, `The configuration of ${this.#image} is too large to be one; choose another version`);
    const url = this.blobUrl(digest);
    return this.#checked(await this.#ask(url), url, digest).value;
  }

  blobUrl(digest: string): URL {
    return new URL(`blobs/${digest}`, this.#base);
  }

  /** The headers for a request to the registry. A blob may be redirected elsewhere, where they must not be sent. */
  async headers(): Promise<Record<string, string>> {
    if (this.#challenge === undefined) this.#learn(await this.#send(new URL('/v2/', this.#base), {}));
    if (this.#challenge === null || this.#challenge === undefined) return {};
    if (this.#token === undefined || performance.now() - this.#token.since > TOKEN_AGE_MS)
      this.#token = { text: await this.#newToken(this.#challenge), since: performance.now() };
    return { authorization: `Bearer ${this.#token.text}` };
  }

  async #ask(url: URL, headers: Record<string, string> = {}): Promise<FetchAnswer> {
    let answer = await this.#send(url, { ...headers, ...(await this.headers()) });
    // Some registries answer `/v2/` without a token, but want one for their content.
    if (answer.status === 401 && this.#challenge === null) {
      this.#learn(answer);
      answer = await this.#send(url, { ...headers, ...(await this.headers()) });
    }
    if (answer.status !== 200 && answer.status !== 404) throw statusFault(url, answer, this.#image);
    return answer;
  }

  #learn(answer: FetchAnswer): void {
    const challenge = answer.status === 401 ? bearerChallenge(answer.headers['www-authenticate']) : null;
    if (challenge === undefined) throw statusFault(this.#base, answer, this.#image);
    this.#challenge = challenge;
  }

  async #newToken(challenge: BearerChallenge): Promise<string> {
    const realm = toldUrl(challenge.realm, this.#base);
    if (challenge.service !== undefined) realm.searchParams.set('service', challenge.service);
    realm.searchParams.set('scope', `repository:${this.#image}:pull`);
    const answer = await this.#send(realm, {}, TOKEN_MAX_BYTES);
    if (answer.status !== 200) throw statusFault(realm, answer, `a token for ${this.#image}`);
    const read = tokenAnswer.safeParse(jsonOf(answer));
    if (read.success) return read.data;
    throw new Problem(502, `${realm.host} gave no token for ${this.#image}; try again later`);
  }

  #checked(answer: FetchAnswer, url: URL, told: string | string[] | undefined): RegistryDocument {
    if (answer.status !== 200) throw statusFault(url, answer, this.#image);
    const digest = digestOf(answer.text);
    if (told !== undefined && told !== digest)
      throw new Problem(502, `${url.host} gave something else than the ${told} of ${this.#image}; try again later`);
    const value = jsonOf(answer);
    if (value === undefined) throw new Problem(502, `${url.host} did not describe ${this.#image}; try again later`);
    return { digest, value };
  }

  #send(url: URL, headers: Record<string, string>, maxBytes = DOCUMENT_MAX_BYTES): Promise<FetchAnswer> {
    const { fetch, signal } = this.#request;
    return fetch(url.href, { headers, maxBytes, signal });
  }
}

/** undefined when the answer is no JSON. */
function jsonOf(answer: FetchAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}
