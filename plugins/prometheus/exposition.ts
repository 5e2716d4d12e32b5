// The text of metrics, in the format of Prometheus and in that of OpenMetrics.
// Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and
// https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
import { createHash } from 'node:crypto';
import type { MetricFamily, MetricSample } from './contract.ts';

export type Format = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

const PREFIX = 'stackwarden_';
/** Values of labels are cut, because names of services may be very long. */
const MAX_VALUE_LENGTH = 200;
const DIGEST_LENGTH = 8;

/** OpenMetrics if the client's `Accept` header names it. */
export function formatFor(accept: string): Format {
  return accept.includes('application/openmetrics-text') ? 'openmetrics' : 'prometheus';
}

/** The text of the families. Families of one name are merged, with the help and the type of the first. */
export function exposition(families: readonly MetricFamily[], format: Format): string {
  const byName = new Map<string, MetricFamily[]>();
  for (const family of families) byName.set(family.name, [...(byName.get(family.name) ?? []), family]);
  const texts = [...byName.values()].map(same => familyText(same, format));
  return texts.join('') + (format === 'openmetrics' ? '# EOF\n' : '');
}

function familyText(same: readonly MetricFamily[], format: Format): string {
  const [first] = same;
  if (first === undefined) return '';
  const { name, help, type } = first;
  const series = PREFIX + name + (type === 'counter' ? '_total' : '');
  // Only OpenMetrics names the family of a counter without its suffix.
  const family = format === 'openmetrics' ? PREFIX + name : series;
  const lines = new Map(same.flatMap(({ samples }) => samples).flatMap(sample => lineOf(series, sample)));
  if (lines.size === 0) return '';
  const told = [...lines].map(([labelled, value]) => `${labelled} ${value}\n`);
  return `# HELP ${family} ${format === 'openmetrics' ? escaped(help) : helpText(help)}\n# TYPE ${family} ${type}\n${told.join('')}`;
}

/** The series with its labels, and its value; nothing when the value is unknown. */
function lineOf(series: string, { labels = {}, value }: MetricSample): [string, string][] {
  if (value === null) return [];
  // In one order, because series whose labels differ in their order only are the same.
  const pairs = Object.keys(labels)
    .sort()
    .map(name => `${name}="${escaped(shortened(labels[name] ?? ''))}"`);
  return [[pairs.length === 0 ? series : `${series}{${pairs.join(',')}}`, numberText(value)]];
}

/** Texts that begin alike stay different, because two series with the same labels would be one. */
function shortened(text: string): string {
  if (text.length <= MAX_VALUE_LENGTH) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
  // Half of a character beyond the basic plane may be left at the end.
  const kept = text.slice(0, MAX_VALUE_LENGTH - DIGEST_LENGTH - 1).replace(/[\ud800-\udbff]$/, '');
  return `${kept}~${digest}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(text: string): string {
  return helpText(text).replaceAll('"', '\\"');
}

/** In help texts the format of Prometheus has no escaped quotes. */
function helpText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
