// What a registry asks for before it answers: where a token can be had, and for what.

export interface BearerChallenge {
  readonly realm: string;
  readonly service: string | undefined;
}

const SCHEME = /^bearer +/i;
const PARAMETER = /(?<![a-z_])([a-z_]+)="([^"\\]*)"/gi;

/** Reads `WWW-Authenticate`; undefined where it names no realm of the scheme Bearer. */
export function bearerChallenge(header: string | string[] | undefined): BearerChallenge | undefined {
  const text = [header].flat().find(line => line !== undefined && SCHEME.test(line));
  if (text === undefined) return undefined;
  const given = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(PARAMETER)) given.set(name.toLowerCase(), value);
  const realm = given.get('realm');
  return realm === undefined ? undefined : { realm, service: given.get('service') };
}
