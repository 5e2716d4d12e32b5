// Changes a provider record: members that are not given keep their values, or become those of another provider.
import { Problem } from '#core';
import type { ProviderDescriptor } from '../contract.ts';
import { checkOptions, fittingOptions } from '../providers/provider-options.ts';
import { DEFAULT_RECORD, type ProviderRecord } from '../providers/provider-record.ts';
import type { FoundProvider } from '../providers/providers.ts';
import { readTargetUrl } from '../providers/target-url.ts';
import type { ProviderChange } from './settings-wire.ts';

const MAX_MODEL_LENGTH = 200;

/** What is known of the providers of a record; undefined for one whose plugin is not loaded. */
interface Descriptors {
  /** The provider before the change. */
  readonly former: ProviderDescriptor | undefined;
  /** The provider after the change. */
  readonly present: ProviderDescriptor | undefined;
  /** The provider after the change if it is another one, so that its defaults count. */
  readonly other: ProviderDescriptor | undefined;
}

/** The record with all of the change but its key. Throws a Problem 400 that names the field. */
export function changedRecord(
  base: ProviderRecord,
  change: ProviderChange,
  former: ProviderDescriptor | undefined,
  found: FoundProvider | undefined,
): ProviderRecord {
  const present = found?.descriptor;
  const other = present?.value === former?.value ? undefined : present;
  const descriptors = { former, present, other };
  return {
    ...base,
    provider: found?.spelling ?? base.provider,
    base_url: checkedUrl(base, change, descriptors),
    model: checkedModel(base, change, other),
    timeout_sec: numberOf('timeout_sec', base, change, other),
    temperature: numberOf('temperature', base, change, other),
    provider_options: checkedOptions(base, change, descriptors),
  };
}

/** A stored URL is not checked again, so that everything else can be changed beside it. */
function checkedUrl(base: ProviderRecord, change: ProviderChange, { former, present, other }: Descriptors): string {
  if (present?.endpoint.mode === 'managed') return present.endpoint.url;
  const url = change.base_url?.trim() ?? keptUrl(base.base_url, former, other);
  if (url !== '' && url !== base.base_url) readTargetUrl(url);
  return url;
}

/** Another provider replaces a blank URL, and the one that the former provider itself had set. */
function keptUrl(url: string, former: ProviderDescriptor | undefined, other: ProviderDescriptor | undefined): string {
  if (other === undefined) return url;
  const isLeftOver = former?.endpoint.mode === 'managed' && url === former.endpoint.url;
  return url === '' || isLeftOver ? usualUrl(other) : url;
}

function usualUrl({ defaults, endpoint }: ProviderDescriptor): string {
  return defaults?.base_url ?? (endpoint.mode === 'custom' ? endpoint.defaultUrl : endpoint.url) ?? '';
}

function checkedModel(
  base: ProviderRecord,
  { model: wanted }: ProviderChange,
  other: ProviderDescriptor | undefined,
): string {
  const kept = base.model === '' ? (other?.defaults?.model ?? '') : base.model;
  const model = wanted?.trim() ?? kept;
  if (/\p{Cc}/u.test(model)) throw new Problem(400, 'model has control characters');
  if (model.length > MAX_MODEL_LENGTH) throw new Problem(400, `model is longer than ${MAX_MODEL_LENGTH} characters`);
  return model;
}

/** The default of another provider replaces no number that the owner has changed. */
function numberOf(
  field: 'timeout_sec' | 'temperature',
  base: ProviderRecord,
  change: ProviderChange,
  other: ProviderDescriptor | undefined,
): number {
  const isOwners = base[field] !== DEFAULT_RECORD[field];
  return change[field] ?? (isOwners ? undefined : other?.defaults?.[field]) ?? base[field];
}

function checkedOptions(
  base: ProviderRecord,
  { provider_options: wanted }: ProviderChange,
  { present, other }: Descriptors,
): ProviderRecord['provider_options'] {
  if (wanted !== undefined) return present === undefined ? wanted : checkOptions(present, wanted);
  return other === undefined ? base.provider_options : fittingOptions(other, base.provider_options);
}
