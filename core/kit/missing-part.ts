// Parts of the program that can no longer be loaded, because its folder was deleted or replaced while it runs.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from '../contract/problem.ts';
import { causesOf } from './causes.ts';
import { errorText } from './error-text.ts';

const CODES = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'];
/** Names the missing module; IMPORTER names the file that imports or requires it. */
const MODULE = /^Cannot find (?:module|package) '([^']+)'/;
const IMPORTER = /(?: imported from |^- )(.+)$/m;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The folders of the program: the root may hold others, such as the configuration directory of a clone. */
const FOLDERS = ['core', 'plugins', 'node_modules'].map(name => path.join(ROOT, name, path.sep));

/** The Problem 503 for an error that is one of a missing module, or was caused by one; undefined for any other. */
export function missingPart(error: unknown): Problem | undefined {
  return [...causesOf(error)].some(isMissingPart) ? withoutPart(error) : undefined;
}

export function withoutPart(cause: unknown): Problem {
  const detail = 'A part of the program is missing, because its folder was deleted or replaced; restart Stackwarden';
  return new Problem(503, detail, { cause });
}

/** A plugin from elsewhere may lack a module as well, but no restart brings that back. */
function isMissingPart(error: object): boolean {
  if (!CODES.includes((error as NodeJS.ErrnoException).code ?? '')) return false;
  const text = errorText(error);
  const [, module = ''] = MODULE.exec(text) ?? [];
  const place = path.isAbsolute(module) ? module : IMPORTER.exec(text)?.[1];
  return place === undefined || FOLDERS.some(folder => place.startsWith(folder));
}
