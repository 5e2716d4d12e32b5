// Refuses new values with which a provider could not be called, however the configuration is saved. Values that are
// stored already are not refused.
import { isObject } from '#kit/plain-object';
import { checkKey } from '../providers/provider-record.ts';
import type { Providers } from '../providers/providers.ts';
import { readTargetUrl } from '../providers/target-url.ts';

type Members = Readonly<Record<string, unknown>>;

/** `before` and `after` are the sections. Throws a Problem 400 that names the member, but no secret. */
export function checkSection(providers: Providers, before: unknown, after: unknown): void {
  const stored = recordsOf(before);
  for (const record of recordsOf(after)) {
    const text = (key: string): string => (typeof record[key] === 'string' ? record[key].trim() : '');
    const isNew = (key: string): boolean =>
      record[key] !== undefined && !stored.some(other => other[key] === record[key]);
    if (isNew('provider')) providers.require(text('provider'));
    if (isNew('base_url') && text('base_url') !== '') readTargetUrl(text('base_url'));
    if (isNew('api_key')) checkKey(String(record.api_key));
  }
}

/** The record of the section itself and those of its profiles. */
function recordsOf(section: unknown): readonly Members[] {
  if (!isObject(section)) return [];
  const { profiles } = section;
  return [section, ...(Array.isArray(profiles) ? profiles.filter(isObject) : [])];
}

/** The JSON Schema of the section with the providers that are loaded. */
export function withProviders(made: Readonly<Record<string, unknown>>, providers: Providers): Record<string, unknown> {
  const spellings = providers.spellings();
  if (spellings.length === 0) return { ...made };
  return withMember(made, ['properties'], properties => {
    const profiles = withMember(properties, ['profiles', 'items', 'properties'], fields =>
      withChoice(fields, spellings),
    );
    return withChoice(profiles, spellings);
  });
}

function withChoice(properties: Members, spellings: readonly string[]): Record<string, unknown> {
  return { ...properties, provider: { ...(properties.provider as object), enum: [...spellings] } };
}

function withMember(
  value: Members,
  [key = '', ...rest]: readonly string[],
  edit: (member: Members) => Members,
): Record<string, unknown> {
  const member = isObject(value[key]) ? value[key] : {};
  return { ...value, [key]: rest.length === 0 ? edit(member) : withMember(member, rest, edit) };
}
