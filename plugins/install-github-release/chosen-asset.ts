// Chooses the file of a release that is made for this machine.
import { Problem } from '#core';
import type { Architecture, SourceRequest } from '../installs/contract.ts';
import type { GithubFacts } from './github-facts.ts';
import type { Asset, PublishedRelease } from './published-release.ts';

const NAME = /\{(\w+)\}/g;
const SAFE_NAME = /^\w[\w.+~()-]{0,199}$/;
const MAX_SHOWN = 8;

/**
 * The text with the tag, the version and the publisher's words for the architecture filled in. Throws a Problem 400
 * when the publisher has no word for it.
 */
export function filled(text: string, tag: string, { words }: GithubFacts, request: SourceRequest): string {
  const named = text.replace(NAME, (whole, name: string) => {
    if (name === 'tag') return tag;
    if (name === 'version') return tag.replace(/^v/, '');
    const forms = Object.hasOwn(words, name) ? words[name] : undefined;
    return forms === undefined ? whole : wordFor(request.architecture, forms, request);
  });
  return request.fill(named);
}

/** Throws a Problem: 400 when nothing is published for this machine, 502 when the release has no such file. */
export function chosenAsset(
  { version, assets = [] }: PublishedRelease,
  patterns: readonly string[],
  facts: GithubFacts,
  request: SourceRequest,
): Asset {
  const wanted = patterns.map(pattern => filled(pattern, version, facts, request));
  for (const name of wanted) {
    const found = assets.find(asset => fits(asset.name, name));
    if (found !== undefined && SAFE_NAME.test(found.name)) return found;
  }
  const names = assets.map(({ name }) => name).filter(name => SAFE_NAME.test(name));
  const more = names.length > MAX_SHOWN ? ', ...' : '';
  const has = names.length === 0 ? 'it has none' : `it has ${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
  throw new Problem(
    502,
    `The release ${version} of ${request.block.processName} has no file ${wanted.join(' or ')}: ${has}; choose another release, or try again later`,
  );
}

function wordFor(
  architecture: Architecture,
  forms: Readonly<Partial<Record<Architecture, string>>>,
  { block }: SourceRequest,
): string {
  const word = forms[architecture];
  if (word !== undefined) return word;
  throw new Problem(
    400,
    `${block.processName} is published for ${Object.keys(forms).join(', ')}, not for ${architecture}; run it on another machine`,
  );
}

/** Whether the name matches; `*` stands for any characters. Case is ignored, because publishers change it at times. */
function fits(name: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.toLowerCase().split('*');
  const text = name.toLowerCase();
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, place);
    if (found < 0) return false;
    place = found + piece.length;
  }
  return text.length - last.length >= place && text.endsWith(last);
}
