// Finds elements and their attributes in the XML of a feed. Nesting and text content are ignored.
import { Problem } from '#core';

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const TAG = /<([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/g;
const ATTRIBUTE = /(?<![\w.:-])([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * The elements in document order. Throws a Problem 502 for a text that is no XML or has a document type declaration.
 */
export function xmlElements(text: string, place: string): XmlElement[] {
  if (!/^\uFEFF?\s*</.test(text) || /<!(DOCTYPE|ENTITY)/i.test(text))
    throw new Problem(502, `${place} did not answer with the XML of its feed; try again later`);
  const elements: XmlElement[] = [];
  for (const [, name = '', attributes = ''] of text.matchAll(TAG)) {
    const found = new Map<string, string>();
    for (const [, key = '', double, single = ''] of attributes.matchAll(ATTRIBUTE))
      found.set(key, resolved(double ?? single));
    elements.push({ name, attributes: found });
  }
  return elements;
}

function resolved(value: string): string {
  return value.replace(/&(lt|gt|amp|quot|apos);/g, (_whole, entity: string) => ENTITIES[entity] ?? '');
}
