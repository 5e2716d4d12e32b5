// Reads the challenge of a registry, which says where a token can be requested.

export interface BearerChallenge {
  readonly realm: string;
  readonly service: string | undefined;
}

const SCHEME = /^bearer +/i;
const PARAMETER = /(?<![a-z_])([a-z_]+)="([^"\\]*)"/gi;

/** Reads `WWW-Authenticate`; undefined when it has no Bearer challenge with a realm. */
export function bearerChallenge(header: string | string[] | undefined): BearerChallenge | undefined {
  const text = [header].flat().find(line => line !== undefined && SCHEME.test(line));
  if (text === undefined) return undefined;
  const given = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(PARAMETER)) given.set(name.toLowerCase(), value);
  const realm = given.get('realm');
  return realm === undefined ? undefined : { realm, service: given.get('service') };
}
