// The JSON Schema of the whole configuration as text, in pieces between which other requests are answered: with many
// services it has tens of megabytes.
import type { ConfigObject } from '#core';
import { isObject } from '#kit/plain-object';
import { ownTurns } from '#kit/turns';

const PIECE_BYTES = 256 * 1024;

export async function* schemaText({ properties, ...rest }: ConfigObject): AsyncGenerator<Buffer> {
  const turn = ownTurns();
  let pieces: Buffer[] = [];
  let bytes = 0;
  for (const part of partsOf(rest, isObject(properties) ? properties : {})) {
    pieces.push(part);
    bytes += part.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    await turn();
  }
  yield Buffer.concat(pieces);
}

/** The text of a schema that many services share is made once. */
function* partsOf(rest: ConfigObject, properties: ConfigObject): Generator<Buffer> {
  const texts = new Map<unknown, Buffer>();
  const head = JSON.stringify(rest).slice(0, -1);
  yield Buffer.from(`${head}${head === '{' ? '' : ','}"properties":{`);
  let separator = '';
  for (const [key, schema] of Object.entries(properties)) {
    const text = texts.get(schema) ?? Buffer.from(JSON.stringify(schema));
    texts.set(schema, text);
    yield Buffer.from(`${separator}${JSON.stringify(key)}:`);
    yield text;
    separator = ',';
  }
  yield Buffer.from('}}');
}
