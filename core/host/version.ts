// The product's version, from its package.json.
import { readFileSync } from 'node:fs';

const packageFile = new URL('../../package.json', import.meta.url);

export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string };
