// The text of the state file, written and read in pieces, because a state of many thousands of requests has megabytes.
import { bareObject, isObject } from '#kit/plain-object';
import { forEachInSlices } from './slices.ts';
import type { State } from './state.ts';

const SECTIONS = ['requests', 'failed'] as const;
/** The line before the entries of a section; each entry stands on a line of its own. */
const OPENING = /^,?"(requests|failed)":\{$/;
const CLOSING = '}';

export function* stateText({ last_poll_ts, meta, others, ...sections }: State): Generator<string> {
  const members = { ...others, last_poll_ts, meta };
  yield `${JSON.stringify(members).slice(0, -1)}\n`;
  for (const name of SECTIONS) {
    yield `,"${name}":{\n`;
    let separator = '';
    for (const [key, entry] of sections[name]) {
      yield `${separator}${JSON.stringify(key)}:${JSON.stringify(entry)}`;
      separator = ',\n';
    }
    yield separator === '' ? `${CLOSING}\n` : `\n${CLOSING}\n`;
  }
  yield '}\n';
}

/** The content of a state file, whatever its layout. Throws an Error when it is not JSON. */
export async function stateContent(text: string): Promise<unknown> {
  return (await contentOfLines(text)) ?? JSON.parse(text);
}

/** undefined for a text of another layout, as earlier programs and users write it. */
async function contentOfLines(text: string): Promise<unknown> {
  const sections = bareObject<Record<string, unknown>>();
  let open: Record<string, unknown> | undefined;
  let rest = '';
  const visit = (line: string): void => {
    const [, name] = OPENING.exec(line) ?? [];
    if (name !== undefined) {
      open = bareObject();
      sections[name] = open;
    } else if (line === CLOSING && open !== undefined) open = undefined;
    else if (open === undefined) rest += line;
    else for (const [key, entry] of Object.entries(entriesOf(line))) open[key] = entry;
  };
  try {
    await forEachInSlices(linesOf(text), visit);
    const content: unknown = JSON.parse(rest);
    return isObject(content) ? { ...content, ...sections } : undefined;
  } catch {
    return undefined;
  }
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length : end + 1;
  }
}

function entriesOf(line: string): object {
  return JSON.parse(`{${line.endsWith(',') ? line.slice(0, -1) : line}}`) as object;
}
