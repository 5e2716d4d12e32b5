// The token by which a vendor recognizes the owner of a service, read from the service's own file.
import type { Host } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../config-files/contract.ts';
import type { SourceRequest } from '../installs/contract.ts';
import type { VendorFacts } from './vendor-facts.ts';

const TOKEN = /^[\w-]{1,200}$/;

/** The header with the token; no header when the service has no token or its file cannot be read. */
export async function tokenHeader(
  { block, fill }: Pick<SourceRequest, 'block' | 'fill'>,
  feed: NonNullable<VendorFacts['feed']>,
  host: Pick<Host, 'find'>,
): Promise<Readonly<Record<string, string>>> {
  const files = host.find('config.files');
  if (feed.token === undefined || files === undefined) return {};
  const { header, file, member } = feed.token;
  const [element, name] = member;
  const values = await files.values(block, fill(file)).catch(() => ({}));
  const found = Object.hasOwn(values, element) ? (values as Record<string, unknown>)[element] : undefined;
  const token = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return typeof token === 'string' && TOKEN.test(token) ? { [header]: token } : {};
}
