// `stackwarden config`: reads and changes a value of the configuration by its dotted path.
import type { Command, CommandCall, HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { nearestWord } from '#kit/nearest-word';
import { isObject } from '#kit/plain-object';

interface Outcome {
  readonly changed: readonly string[];
  readonly overridden: readonly string[];
  readonly restart_required: readonly string[];
  readonly warnings: readonly string[];
}

const command: Command = {
  summary: 'print a value of the configuration, or change it',
  arguments: [
    { syntax: '<ACTION>', description: 'what to do', choices: ['get', 'set'] },
    { syntax: '[PATH]', description: 'for example dumb.log_level; get without it prints everything', offer: pathsOf },
    { syntax: '[VALUE]', description: 'JSON; anything else is a text; null removes a value that is optional' },
  ],
  options: [{ flags: '--memory', description: 'set: change the value without saving it, until the host ends' }],
  run: call => (call.args[0] === 'get' ? get(call) : set(call)),
};

export default command;

async function get({ args: [, path, surplus], options, host, output, misuse }: CommandCall): Promise<number> {
  if (surplus !== undefined) throw misuse(`unexpected argument '${surplus}'; config set changes a value`);
  if (options.memory) throw misuse("'--memory' belongs to config set");
  const parts = path === undefined ? [] : partsOf(path, misuse);
  const root = await readConfig(host);
  const value = valueAt(root, parts);
  if (value === undefined) throw new Error(`the configuration has no ${path}; ${whereToLook(root, parts)}`);
  if (typeof value === 'string') output.line(value);
  else output.json(value);
  return 0;
}

async function set({ args: [, path, text], options, host, output, misuse }: CommandCall): Promise<number> {
  if (path === undefined || text === undefined)
    throw misuse('config set needs a path and a value, for example config set dumb.log_level DEBUG');
  const updates = partsOf(path, misuse).reduceRight<unknown>((value, part) => ({ [part]: value }), parsed(text));
  const answer = hostAnswer<Outcome>(await host.post('/config', { updates, persist: !options.memory }), {
    changed: [''],
    overridden: [''],
    restart_required: [''],
    warnings: [''],
  });
  output.line(answer.changed.length === 0 ? 'nothing has changed' : `changed: ${answer.changed.join(', ')}`);
  for (const place of answer.overridden) output.note(`${place}: the environment gives another value, which counts`);
  for (const place of answer.restart_required) output.note(`${place}: counts after a restart`);
  for (const warning of answer.warnings) output.note(warning);
  return 0;
}

async function readConfig(host: HostClient): Promise<unknown> {
  return hostAnswer<{ readonly dumb: object }>(await host.get('/config'), { dumb: {} });
}

function partsOf(path: string, misuse: CommandCall['misuse']): readonly string[] {
  const parts = path.split('.');
  if (!parts.includes('')) return parts;
  throw misuse(`'${path}' is no path; it is made of names and dots, for example dumb.log_level`);
}

/** A hint for a path that does not exist: the word that was probably meant, or the command that lists the words. */
function whereToLook(root: unknown, parts: readonly string[]): string {
  const count = parts.findIndex((_part, index) => valueAt(root, parts.slice(0, index + 1)) === undefined);
  const known = parts.slice(0, count);
  const parent = valueAt(root, known);
  const meant = isObject(parent) ? nearestWord(parts[count] ?? '', Object.keys(parent)) : undefined;
  if (meant !== undefined) return `did you mean ${[...known, meant].join('.')}?`;
  return `stackwarden config get${known.length === 0 ? '' : ` ${known.join('.')}`} prints what is there`;
}

function valueAt(value: unknown, parts: readonly string[]): unknown {
  const [part, ...others] = parts;
  if (part === undefined) return value;
  if (Array.isArray(value)) return valueAt(value[Number(part)], others);
  return isObject(value) && Object.hasOwn(value, part) ? valueAt(value[part], others) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text that is no JSON is taken as it is, so that words need no quotes.
    return text;
  }
}

async function pathsOf(host: HostClient): Promise<readonly string[]> {
  const paths: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      paths.push(path + name);
      visit(member, `${path}${name}.`);
    }
  };
  visit(await readConfig(host), '');
  return paths;
}
