// Checks one running process: its ports must accept connections, then its health address is requested and interpreted.
// `checksOf` finds out what to check without asking the process.
import type { FetchAnswer, Host, NamedBlock } from '#core';
import { acceptsTcp } from '#kit/accepts-tcp';
import { clientHost, urlHost } from '#kit/client-host';
import { lacksDescriptors } from '#kit/descriptors';
import { errorText } from '#kit/error-text';
import { isObject } from '#kit/plain-object';
import type { HealthReport, HealthStatus } from '../process/contract.ts';
import type { CustomProbe, HealthAddress, HttpProbe, ProcessProbe } from './contract.ts';

const PORT_TIMEOUT_MS = 1_500;
const HTTP_TIMEOUT_MS = 2_500;
const MAX_BODY_BYTES = 64 * 1024;
const PORT_VARIABLES = ['PORT', 'FRONTEND_PORT', 'BACKEND_PORT', 'WEBDAV_PORT'];
const STATE_KEYS = ['status', 'state', 'health', 'overallStatus'];
const MAX_COMPONENTS = 12;
/** A redirect to another place on the same server, without its query and fragment, which may hold credentials. */
const PLACE = /^\/(?!\/)[!"$->@-~]{0,199}/;

/** Only whole words match, so that `downloading` is not down and `upgrading` is not up. */
const WORDS: readonly (readonly [HealthStatus, RegExp])[] = [
  ['unhealthy', /^(down|fail(ed|ing|ures?)?|errors?|critical|unavailable|stopped|unhealthy|not[ _-]?ready)(?![a-z])/i],
  ['degraded', /^(warn(ings?)?|degraded|partial(ly)?|unknown)(?![a-z])/i],
  ['starting', /^(starting|initiali[sz]ing|migrating|pending|warming)(?![a-z])/i],
  ['healthy', /^(ok(ay)?|healthy|up|ready|running|pong|pass(ed|ing)?|success(ful)?|alive|true)(?![a-z])/i],
];

export interface HealthQuestion {
  readonly block: NamedBlock;
  /** Ports that the block configures. */
  readonly ports: readonly number[];
  readonly probes: readonly ProcessProbe[];
}

/** What is checked of a process. */
export interface HealthChecks {
  readonly block: NamedBlock;
  readonly ports: readonly number[];
  /** Checked first. The other checks count only when it gives no report. */
  readonly stated: CustomProbe | undefined;
  readonly custom: CustomProbe | undefined;
  readonly address: HealthAddress | undefined;
}

/** The report of a process that has nothing to check: it runs. */
export const RUNS: HealthReport = report('healthy', null, { probe: 'process' });

/** undefined when there is nothing to check. */
export function checksOf({ block, ports: configured, probes }: HealthQuestion): HealthChecks | undefined {
  const stated = probes.find(probe => 'blockKey' in probe && block.block[probe.blockKey] !== undefined);
  const known = probes.find(probe => 'configKey' in probe && probe.configKey === block.configKey);
  const ports = [...new Set([...configured, ...portsFromEnvironment(block.block)])];
  const own = block.block.health as OwnProbe | undefined;
  const checks = {
    block,
    ports,
    stated: customOf(stated),
    custom: own === undefined ? customOf(known) : undefined,
    address: addressOf(block, own, known !== undefined && 'path' in known ? known : undefined),
  };
  const { stated: first, custom, address } = checks;
  return ports.length === 0 && (first ?? custom ?? address) === undefined ? undefined : checks;
}

/**
 * Throws only when the check itself fails, as for want of descriptors; a negative or unclear answer is a report like
 * any other.
 */
export async function checkHealth(
  { block, ports, stated, custom, address }: HealthChecks,
  fetch: Host['fetch'],
): Promise<HealthReport> {
  const host = probeHost(block.block.host);
  const ask = (asked: HealthAddress): Promise<HealthReport> => askHttp(asked, host, fetch);
  const statedReport = await stated?.check(block, ask);
  if (statedReport !== undefined) return statedReport;
  const accepted = await Promise.all(ports.map(port => acceptsTcp(host, port, PORT_TIMEOUT_MS)));
  const refused = ports.find((_port, index) => accepted[index] === false);
  if (refused !== undefined) {
    return report('unhealthy', `Port ${host}:${refused} not responding`, { probe: 'tcp', host, port: refused, ports });
  }
  const answer = custom === undefined ? address && ask(address) : custom.check(block, ask);
  return (await answer) ?? (ports.length > 0 ? report('healthy', null, { probe: 'tcp', host, ports }) : RUNS);
}

function customOf(probe: ProcessProbe | undefined): CustomProbe | undefined {
  return probe !== undefined && 'check' in probe ? probe : undefined;
}

export function report(status: HealthStatus, reason: string | null, details: Record<string, unknown>): HealthReport {
  return { status, healthy: status !== 'unhealthy', reason, details };
}

function probeHost(host: unknown): string {
  const reached = clientHost(host);
  return reached === 'localhost' ? '127.0.0.1' : reached;
}

function portsFromEnvironment(block: NamedBlock['block']): number[] {
  const env = (block.env ?? {}) as Record<string, unknown>;
  return PORT_VARIABLES.map(name => Number(env[name])).filter(
    port => Number.isInteger(port) && port > 0 && port < 65_536,
  );
}

/** The `health` member of a block. */
interface OwnProbe {
  readonly path: string;
  readonly port?: number;
}

/** The block's own `health` wins over the probe of its kind. */
function addressOf(
  { block }: NamedBlock,
  own: OwnProbe | undefined,
  known: HttpProbe | undefined,
): HealthAddress | undefined {
  const path = own?.path ?? known?.path;
  const port = own?.port ?? block[known?.portKey ?? 'port'];
  if (path === undefined || typeof port !== 'number') return undefined;
  return { path, port, marker: known?.marker, jsonKey: known?.jsonKey };
}

async function askHttp(address: HealthAddress, host: string, fetch: Host['fetch']): Promise<HealthReport> {
  const { path, port } = address;
  const startedMs = performance.now();
  const details = { probe: 'http', endpoint: path, port };
  let answer: FetchAnswer;
  try {
    answer = await requested(address, host, fetch);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    if (errorText(error).includes('larger than'))
      return report('degraded', `${path} answers more than ${MAX_BODY_BYTES} bytes`, details);
    return report('unhealthy', `${path} does not answer`, {
      ...details,
      error_type: error instanceof Error ? error.name : 'Error',
    });
  }
  const latencyMs = Math.round(performance.now() - startedMs);
  const facts = { ...details, http_status: answer.status, latency_ms: latencyMs, ...redirectOf(answer) };
  return interpreted(answer, address, facts);
}

function requested(
  { path, port, method = 'GET', headers }: HealthAddress,
  host: string,
  fetch: Host['fetch'],
): Promise<FetchAnswer> {
  // Headers may hold credentials, which never leave this machine.
  const asked = headers === undefined ? host : '127.0.0.1';
  return fetch(`http://${urlHost(asked)}:${port}${path}`, {
    method,
    ...(headers === undefined ? {} : { headers }),
    timeoutMs: HTTP_TIMEOUT_MS,
    redirects: 0,
    maxBytes: MAX_BODY_BYTES,
  });
}

function redirectOf({ status, headers: { location } }: FetchAnswer): { location?: string } {
  const [place] = status >= 300 && status < 400 && typeof location === 'string' ? (PLACE.exec(location) ?? []) : [];
  return place === undefined ? {} : { location: place };
}

/** A state in the body counts more than the status, unless it says `healthy` where something else was expected. */
function interpreted(
  { status, text }: FetchAnswer,
  { path, marker, jsonKey }: HealthAddress,
  facts: Readonly<Record<string, unknown>>,
): HealthReport {
  const json = parseObject(text);
  const word = stateIn(json);
  const told = {
    ...facts,
    ...(word === undefined ? {} : { reported_status: word.slice(0, 80) }),
    ...componentsOf(json),
  };
  const reported = word === undefined ? undefined : meaningOf(word);
  if (reported !== undefined && reported !== 'healthy')
    return report(reported, `${path} reports ${word?.slice(0, 80)}`, told);
  const succeeded = status >= 200 && status < 300;
  const lacks =
    (marker !== undefined && !text.includes(marker)) || (jsonKey !== undefined && !Object.hasOwn(json ?? {}, jsonKey));
  if (succeeded && lacks) return report('degraded', `${path} answers something else than expected`, told);
  if (succeeded || reported === 'healthy') return report('healthy', null, told);
  return report(status >= 500 ? 'unhealthy' : 'degraded', `${path} answers ${status}`, told);
}

/** The first member that tells a state in one word. */
function stateIn(json: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const states = STATE_KEYS.map(key => json?.[key]);
  const state = states.find(value => typeof value === 'string' || typeof value === 'boolean');
  return state === undefined ? undefined : String(state);
}

function meaningOf(word: string): HealthStatus | undefined {
  return WORDS.find(([, pattern]) => pattern.test(word.trim()))?.[0];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** A list gives the names as members; a part that tells no state in one word is left out. */
function componentsOf(json: Record<string, unknown> | undefined): { components?: { name: string; status: string }[] } {
  const source = json?.components ?? json?.entries ?? json?.checks;
  if (typeof source !== 'object' || source === null) return {};
  const parts: [unknown, unknown][] = Array.isArray(source)
    ? source.filter(isObject).map(part => [part.name, part])
    : Object.entries(source);
  const components = parts
    .flatMap(([name, value]) => {
      const status = isObject(value) ? value.status : value;
      if (typeof name !== 'string' || !['string', 'number', 'boolean'].includes(typeof status)) return [];
      return [{ name: name.slice(0, 80), status: String(status).slice(0, 80) }];
    })
    .slice(0, MAX_COMPONENTS);
  return components.length === 0 ? {} : { components };
}
