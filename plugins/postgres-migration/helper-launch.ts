// How a helper instance is launched: the command, the variables and the settings of the service with those of the helper
// in their place, so that it touches nothing of the service.
import type { ServerAccess } from '../service-postgres/contract.ts';
import type { MigrationService } from './contract.ts';

type Texts = Readonly<Record<string, string>>;

/** The command of the service with the arguments of the helper in place of its own. */
export function helperCommand(
  argv: readonly string[],
  { arguments: wanted, flags = [] }: MigrationService['helper'],
  values: Texts,
): string[] {
  const words = [...argv];
  for (const [name, text] of Object.entries(wanted)) {
    const value = filled(text, values);
    const isJoined = name.endsWith('=');
    const at = words.findIndex((word, index) => index > 0 && (isJoined ? isCalled(word, name) : word === name));
    if (isJoined) words.splice(at < 0 ? words.length : at, at < 0 ? 0 : 1, `${name}${value}`);
    else words.splice(at < 0 ? words.length : at, at < 0 ? 0 : 2, name, value);
  }
  return [...words, ...flags.filter(flag => !words.includes(flag))];
}

/** Whether an argument is the one of this name, with one hyphen, two, or a slash before it. */
function isCalled(word: string, name: string): boolean {
  const bare = (text: string): string => text.replace(/^(?:--?|\/)/, '').toLowerCase();
  return /^(?:-|\/)/.test(word) && bare(word).startsWith(bare(name));
}

/** The variables of the service without those that would say otherwise. */
export function helperEnvironment(
  { helper, overridingVariables }: MigrationService,
  env: Texts,
): Record<string, string> {
  const parts = [helper.withoutVariables, overridingVariables];
  const isKept = (name: string): boolean => !parts.some(part => name.toUpperCase().startsWith(part));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

export interface HelperValues {
  readonly port: number;
  /** A new secret. */
  readonly key: string;
  readonly includesLogs: boolean;
  readonly server: ServerAccess;
  /** Names of databases by their label. */
  readonly databases: Texts;
}

/** What the settings of the helper differ in. */
export function helperSettings(
  service: MigrationService,
  { port, key, includesLogs, server, databases }: HelperValues,
): Record<string, string> {
  const { settings, logSetting } = service.helper;
  return {
    ...serverSettings(service, server, databases),
    ...filledAll(settings, { port: String(port), key }),
    ...(logSetting === undefined ? {} : { [logSetting]: includesLogs ? 'True' : 'False' }),
  };
}

/** The settings that point a program at databases of the server. */
export function serverSettings(
  { settings }: MigrationService,
  { host, port, user, password }: ServerAccess,
  databases: Texts,
): Record<string, string> {
  return filledAll(settings, { host, port: String(port), user, password, ...databases });
}

function filledAll(texts: Texts, values: Texts): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text, values)]));
}

function filled(text: string, values: Texts): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
