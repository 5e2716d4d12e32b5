// The ports and the directories that the block of a service names.
import path from 'node:path';
import type { ConfigObject } from '#core';
import { PORT_KEYS } from '#kit/block-ports';

const MAX_PLACES = 16;
const MAX_PORT = 65_535;

/** Ports of the block, then those of its environment, whose names are the same keys in upper case. */
export function configuredPorts(block: Readonly<ConfigObject>): number[] {
  const env = environmentOf(block);
  const values = [...PORT_KEYS.map(key => block[key]), ...PORT_KEYS.map(key => env[key.toUpperCase()])];
  const ports = values.map(value => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value));
  return [...new Set(ports.filter(isPort))];
}

/** Directories that the service uses, at most sixteen; `shared` are those of the whole installation. */
export function placesOf(block: Readonly<ConfigObject>, shared: readonly string[]): string[] {
  const { config_dir: directory, config_file: file, log_file: log } = block;
  const places = [directory, parentOf(file), parentOf(log), ...Object.values(environmentOf(block)), ...shared];
  return [...new Set(places.filter(isPlace).map(place => path.resolve(place)))].slice(0, MAX_PLACES);
}

function environmentOf({ env }: Readonly<ConfigObject>): Readonly<ConfigObject> {
  return typeof env === 'object' && env !== null ? (env as ConfigObject) : {};
}

function parentOf(file: unknown): string | undefined {
  return typeof file === 'string' && path.isAbsolute(file) ? path.dirname(file) : undefined;
}

/** A text with a brace is a template, which is filled in only when the service is launched. */
function isPlace(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value) && !/[{\n\0]/.test(value);
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_PORT;
}
