// The known requests of the primary, grouped by fingerprint. They are kept from one reading to the next, because most
// readings give only what changed.
import { fingerprintOf } from './fingerprint.ts';
import { type Group, groupOf } from './group.ts';
import type { RemoteRequest } from './remote-request.ts';

export class PrimaryRequests {
  readonly #is4kSeparate: boolean;
  readonly #byId = new Map<number, RemoteRequest>();
  readonly #byFingerprint = new Map<string, Map<number, RemoteRequest>>();
  readonly #groups = new Map<string, Group>();
  /** Fingerprints with requests that are neither in the list nor known to be deleted. */
  #unclear: ReadonlySet<string> = new Set();
  #isComplete = false;

  constructor(is4kSeparate: boolean) {
    this.#is4kSeparate = is4kSeparate;
  }

  /** Whether the whole list of the primary was read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get fingerprints(): Iterable<string> {
    return this.#byFingerprint.keys();
  }

  get(id: number): RemoteRequest | undefined {
    return this.#byId.get(id);
  }

  take(request: RemoteRequest): void {
    this.#remove(request.id);
    this.#byId.set(request.id, request);
    const fingerprint = fingerprintOf(request, this.#is4kSeparate);
    const members = this.#byFingerprint.get(fingerprint) ?? new Map<number, RemoteRequest>();
    this.#byFingerprint.set(fingerprint, members.set(request.id, request));
    this.#groups.delete(fingerprint);
  }

  /** Notes whether the whole list was read, and for which fingerprints it may lack requests. */
  judge(isComplete: boolean, unclear: ReadonlySet<string>): void {
    if (isComplete === this.#isComplete && unclear.size === 0 && this.#unclear.size === 0) return;
    this.#isComplete = isComplete;
    this.#unclear = unclear;
    this.#groups.clear();
  }

  group(fingerprint: string): Group | undefined {
    const known = this.#groups.get(fingerprint);
    const members = this.#byFingerprint.get(fingerprint);
    if (known !== undefined || members === undefined) return known;
    const group = groupOf(fingerprint, [...members.values()], this.#isComplete && !this.#unclear.has(fingerprint));
    this.#groups.set(fingerprint, group);
    return group;
  }

  #remove(id: number): void {
    const request = this.#byId.get(id);
    if (request === undefined) return;
    const fingerprint = fingerprintOf(request, this.#is4kSeparate);
    const members = this.#byFingerprint.get(fingerprint);
    this.#byId.delete(id);
    members?.delete(id);
    if (members?.size === 0) this.#byFingerprint.delete(fingerprint);
    this.#groups.delete(fingerprint);
  }
}
