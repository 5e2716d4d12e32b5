// The signature of a log line, which similar lines share: its text without numbers, names and paths.
import { redactText } from '../redaction/secret-text.ts';

const MAX_CHARS = 240;
/** How much of a line is read to make its signature. */
const READ_CHARS = 2_000;

/** The message in a line of JSON. Programs write it last, behind an error that may have a `message` of its own. */
const JSON_MESSAGES = [
  /"msg"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.){1,2000})/,
  /"message"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.){1,2000})/,
] as const;

/** The message of a line, without the time, level and logger before the third ` - ` or beside it in JSON. */
export function messageOf(line: string, from: number): string {
  if (line.startsWith('{')) {
    for (const message of JSON_MESSAGES) {
      const text = message.exec(line)?.[1];
      if (text !== undefined) return text;
    }
  }
  let start = from;
  for (let dashes = 0; dashes < 3; dashes += 1) {
    const next = line.indexOf(' - ', dashes === 0 ? 0 : start);
    if (next < 0) return line.slice(dashes === 0 ? from : start);
    start = next + 3;
  }
  return line.slice(start);
}

/** A cheap key for similar lines, which never leaves the host. */
export function likenessOf(message: string): string {
  const text = message.length > MAX_CHARS ? message.slice(0, MAX_CHARS) : message;
  return text.replaceAll(/[0-9a-f]{8,}|\d+/gi, '#');
}

export function signatureOf(message: string): string {
  return redactText(message.slice(0, READ_CHARS))
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>')
    .replaceAll(/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g, '<ip>')
    .replaceAll(/(["'])[^"'\r\n]{0,200}\1/g, '<text>')
    .replaceAll(/(?<![\w<])\/[^\s:,;)"']{2,}/g, '<path>')
    .replaceAll(/\b(?=[a-f]{0,64}\d)[0-9a-f]{8,}\b/gi, '<hex>')
    .replaceAll(/\d+/g, '<n>')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_CHARS);
}
