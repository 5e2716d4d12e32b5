// Evidence from the documentation: the shipped pages that fit the question and the other evidence, and what the
// template says about the service.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Host } from '#core';
import { turnWithTime } from '#kit/turns';
import type {} from '../../services/contract.ts';
import type { Evidence, EvidenceRequest } from '../contract.ts';

const MAX_SOURCES = 6;
const OWN_SCORE = 80;
const KEYWORD_SCORE = 10;
const PATH_SCORE = 2;
/** How many characters of each member of the bundle are compared with the pages. */
const PART_CHARS = 4_000;
const MIN_SOURCE_CHARS = 1_200;
const INDEX = 'index.md';

interface Page {
  readonly title: string;
  /** Path below the directory of the pages. */
  readonly path: string;
  readonly url: string | null;
  readonly keywords: readonly string[];
  readonly text: string;
  /** The score of the page before any word is found. */
  readonly score: number;
}

/** The pages ship with the product and do not change while it runs. */
let shipped: Promise<readonly Page[]> | undefined;

export async function collectDocs(host: Host, request: EvidenceRequest): Promise<Evidence> {
  const { maxDocsChars: maxChars } = request;
  shipped ??= readPages(path.join(host.paths.templatesDir, 'docs'));
  const pages = await shipped.catch((error: unknown) => {
    shipped = undefined;
    throw error;
  });
  const found = await haystackOf(request);
  const scored = [...ownPages(host, request), ...pages]
    .map(page => ({ page, score: scoreOf(page, found) }))
    .filter(({ page, score }) => score > 0 || page.path === INDEX)
    .sort((a, b) => b.score - a.score || (a.page.path < b.page.path ? -1 : 1));
  let leftChars = maxChars;
  const sources = scored.slice(0, MAX_SOURCES).flatMap(({ page, score }) => {
    const limit = Math.min(leftChars, Math.max(MIN_SOURCE_CHARS, Math.floor(maxChars / 3)));
    const excerpt = excerptOf(page, found).slice(0, limit);
    leftChars -= excerpt.length;
    const { title, path: place, url } = page;
    return excerpt === '' ? [] : [{ title, path: place, url, source: 'local', score, excerpt }];
  });
  const note = 'Pages that ship with the product, those first that fit best.';
  return {
    members: { docs_context: { available: sources.length > 0, source: 'local', note, max_chars: maxChars, sources } },
    coverage: { docs: sources.length > 0 },
  };
}

async function readPages(directory: string): Promise<readonly Page[]> {
  const names = (await readdir(directory)).filter(name => name.endsWith('.md')).sort();
  return Promise.all(names.map(async name => pageOf(name, await readFile(path.join(directory, name), 'utf8'))));
}

/** A page begins with its title and a line of its keywords. */
function pageOf(name: string, text: string): Page {
  const [whole = '', title = name, listed = ''] = /^# ([^\n]*)\n\nKeywords: ([^\n]*)\n/.exec(text) ?? [];
  const keywords = listed.split(',').map(word => word.trim().toLowerCase());
  return { title, path: name, url: null, keywords, text: text.slice(whole.length).trim(), score: 0 };
}

/** A page for the service, or for each log target of a stack, from its template. */
function ownPages(host: Host, { scope, targets, logTargets }: EvidenceRequest): Page[] {
  const keys = new Set((scope === 'service' ? targets : logTargets).map(({ configKey }) => configKey));
  return [...keys].flatMap((key): Page[] => {
    const template = host.find('service.templates')?.get(key);
    if (template === undefined) return [];
    const { displayName: title, description, links } = template;
    return [
      {
        title,
        path: `services/${key}.md`,
        url: links?.documentation ?? null,
        keywords: [],
        text: description ?? '',
        score: OWN_SCORE,
      },
    ];
  });
}

/** The text, in lower case, that pages are compared with: the target, the question and the other evidence. */
async function haystackOf({ scope, targets, question, gathered }: EvidenceRequest): Promise<string> {
  const { stack_summary: summary, processes, logs, log_analysis: analysis, service_status: status } = gathered;
  const [target] = scope === 'service' ? targets : [];
  const parts: string[] = [];
  for (const part of [status, summary, processes, analysis, logs]) {
    await turnWithTime();
    parts.push(part === undefined ? '' : JSON.stringify(part).slice(-PART_CHARS));
  }
  return [target?.processName, target?.configKey, scope, question, ...parts].join('\n').toLowerCase();
}

function scoreOf({ keywords, path: place, score }: Page, found: string): number {
  const hits = keywords.filter(word => word !== '' && found.includes(word)).length;
  const words = (place.toLowerCase().match(/[a-z]{4,}/g) ?? []).filter(word => found.includes(word)).length;
  return score + hits * KEYWORD_SCORE + words * PATH_SCORE;
}

/** The text of a page, beginning with the section of which most words are found. */
function excerptOf({ text }: Page, found: string): string {
  const sections = text.split(/\n(?=## )/);
  const hitsOf = (section: string): number =>
    new Set((section.toLowerCase().match(/[a-z]{5,}/g) ?? []).filter(word => found.includes(word))).size;
  const hits = sections.map(hitsOf);
  const best = hits.indexOf(Math.max(...hits));
  return [sections[best], ...sections.filter((_, index) => index !== best)].join('\n\n').trim();
}
