// Fills in the addresses of feeds and archives for this architecture and version.
import { Problem } from '#core';
import type { Architecture, SourceRequest } from '../installs/contract.ts';
import type { VendorFacts } from './vendor-facts.ts';

const VERSION = /^[\w.+~-]{1,100}$/;
const NAME = /\{(\w+)\}/g;

/** The address in `text`, filled in. Throws a Problem 400 when the vendor has no word for the architecture. */
export function feedAddress(text: string, { words }: VendorFacts, request: SourceRequest, version?: string): string {
  const filled = text.replace(NAME, (whole, name: string) => {
    if (name === 'version' && version !== undefined) return encodeURIComponent(version);
    const forms = Object.hasOwn(words, name) ? words[name] : undefined;
    if (forms === undefined) return whole;
    const word = forms[request.architecture];
    if (word !== undefined) return word;
    const known = Object.keys(forms).join(', ');
    throw new Problem(
      400,
      `${request.block.processName} is published for ${known}, not for ${request.architecture}; run it on another machine`,
    );
  });
  return request.fill(filled);
}

/** Returns the version. Throws a Problem 400 for a text that can be no version. */
export function checkedVersion(version: string): string {
  if (VERSION.test(version)) return version;
  throw new Problem(400, `${JSON.stringify(version)} is no version; correct pinned_version`);
}

/** Throws a Problem 502 when the name of the file says that it is made for another architecture. */
export function checkArchitecture({ host, pathname }: URL, { words }: VendorFacts, architecture: Architecture): void {
  const name = simple(pathname.slice(pathname.lastIndexOf('/') + 1));
  for (const forms of Object.values(words)) {
    const own = forms[architecture];
    const others = Object.values(forms).filter(word => word !== own);
    if (own === undefined || name.includes(simple(own)) || !others.some(word => name.includes(simple(word)))) continue;
    const file = pathname.slice(pathname.lastIndexOf('/') + 1, 200);
    throw new Problem(
      502,
      `${host} gives ${file} for ${architecture}, which is made for another architecture; try again later`,
    );
  }
}

/** The words of the text in lower case, each between dashes, for comparison. */
function simple(text: string): string {
  return `-${text.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-`;
}
