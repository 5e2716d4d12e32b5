// How a helper is launched: the command, the variables and the settings of the service with those of the helper in
// their place, so that it touches nothing of the service.
import type { ServerAccess } from '../service-postgres/contract.ts';
import type { MigrationService } from './contract.ts';

type Texts = Readonly<Record<string, string>>;

export interface HelperValues {
  /** The directory that holds the helper's data. */
  readonly data: string;
  readonly port: number;
  /** A new secret. */
  readonly key: string;
  readonly includesLogs: boolean;
  readonly server: ServerAccess;
  /** Names of databases by their label. */
  readonly databases: Texts;
}

/** The command of the service with the arguments of the helper in place of its own. */
export function helperCommand(
  argv: readonly string[],
  { arguments: wanted = {}, flags = [], script }: MigrationService['helper'],
  values: HelperValues,
): string[] {
  if (script !== undefined) return [...argv.slice(0, 1), ...script];
  const words = [...argv];
  for (const [name, value] of Object.entries(ownTexts(wanted, values))) {
    const isJoined = name.endsWith('=');
    const joined = isJoined ? name : `${name}=`;
    const found = words.findIndex((word, index) => index > 0 && (word === name || isCalled(word, joined)));
    const at = found < 0 ? words.length : found;
    const isApart = !isJoined && words[at] === name;
    words.splice(at, isApart ? 2 : 1, ...(isJoined ? [`${name}${value}`] : [name, value]));
  }
  return [...words, ...flags.filter(flag => !words.includes(flag))];
}

/** Whether an argument is the one of this name, with one hyphen, two, or a slash before it. */
function isCalled(word: string, name: string): boolean {
  const bare = (text: string): string => text.replace(/^(?:--?|\/)/, '').toLowerCase();
  return /^(?:-|\/)/.test(word) && bare(word).startsWith(bare(name));
}

/** The variables of the service, without those that would override the helper's, and the variables of the helper. */
export function helperEnvironment(service: MigrationService, env: Texts, values: HelperValues): Record<string, string> {
  const { helper, overridingVariables, variables = {} } = service;
  const parts = [helper.withoutVariables, ...overridingVariables];
  const isKept = (name: string): boolean => !parts.some(part => name.toUpperCase().startsWith(part));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))),
    ...serverTexts(variables, values.server, values.databases),
    ...ownTexts(helper.variables ?? {}, values),
  };
}

/** The settings in which the helper differs from the service. */
export function helperSettings(
  { settings = {}, helper }: MigrationService,
  values: HelperValues,
): Record<string, string> {
  const { settings: own = {}, logSetting } = helper;
  return {
    ...serverTexts(settings, values.server, values.databases),
    ...ownTexts(own, values),
    ...(logSetting === undefined ? {} : { [logSetting]: values.includesLogs ? 'True' : 'False' }),
  };
}

/** Settings or variables that point a program at databases of the server. */
export function serverTexts(
  texts: Texts,
  { host, port, user, password }: ServerAccess,
  databases: Texts,
): Record<string, string> {
  return filledAll(texts, { host, port: String(port), user, password, ...databases });
}

/** Settings nested as the settings file holds them. */
export function inRoot({ settingsRoot }: MigrationService, values: Texts): Record<string, unknown> {
  return settingsRoot === undefined ? { ...values } : { [settingsRoot]: values };
}

function ownTexts(texts: Texts, { data, port, key }: HelperValues): Record<string, string> {
  return filledAll(texts, { data, port: String(port), key });
}

function filledAll(texts: Texts, values: Texts): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text, values)]));
}

function filled(text: string, values: Texts): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
