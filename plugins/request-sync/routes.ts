// The routes of replication, under both prefixes.
import { Readable } from 'node:stream';
import { answer, type Host, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { normalFingerprint } from './fingerprint.ts';
import type { Replication } from './replication.ts';
import { ALIAS_FLAG, ALIAS_PREFIX } from './settings.ts';
import { joinedInSlices } from './slices.ts';
import { partsOfKey, type State } from './state.ts';
import type { StateFile } from './state-file.ts';
import { stateText } from './state-text.ts';
import {
  activeToWire,
  clearAnswer,
  clearQuery,
  failedAnswer,
  failedText,
  stateAnswer,
  statusAnswer,
  testAnswer,
  testBody,
} from './wire.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const PREFIXES = [
  { prefix: '/request-sync', capability: 'request_sync' },
  { prefix: ALIAS_PREFIX, capability: ALIAS_FLAG },
];

export function registerRoutes(host: Host, replication: Replication, file: StateFile): void {
  const stateOf = (): Promise<State> =>
    file.load().catch((error: unknown) => {
      throw new Problem(503, errorText(error), { cause: error });
    });

  for (const { prefix, capability } of PREFIXES) {
    host.route({
      method: 'GET',
      path: `${prefix}/status`,
      summary: 'How the replication of requests goes on',
      capability,
      response: statusAnswer,
      async handle() {
        const { settings, progress } = replication;
        if (!settings.enabled) return { enabled: false as const, status: 'disabled' as const };
        const waiting = (message: string) => ({ enabled: true as const, status: 'initializing' as const, message });
        try {
          const state = await file.load();
          if (file.isSaved) return activeToWire(state, settings, progress);
        } catch (error) {
          return waiting(errorText(error));
        }
        return waiting(progress.error ?? 'no state exists yet: the first cycle is not over');
      },
    });
    host.route({
      method: 'GET',
      path: `${prefix}/failed`,
      summary: 'What could not be replicated, newest first',
      capability,
      compress: true,
      response: failedAnswer,
      handle: async () => streamed(failedText(await stateOf(), replication.settings.options.retry_failed_after_hours)),
    });
    host.route({
      method: 'GET',
      path: `${prefix}/state`,
      summary: 'Everything that replication remembers',
      capability,
      compress: true,
      response: stateAnswer,
      handle: async () => streamed(stateText(await stateOf())),
    });
    host.route({
      method: 'POST',
      path: `${prefix}/test`,
      summary: 'Tries the address and the key of a request manager, and stores nothing',
      capability,
      body: testBody,
      response: testAnswer,
      async handle({ body: { url, api_key: apiKey } }) {
        const { testConnection } = await import('./engine.ts');
        const status = await testConnection(host, { url, apiKey }, replication.settings);
        return { ok: true as const, status: status as { version: string } };
      },
    });
    host.route({
      method: 'DELETE',
      path: `${prefix}/failed`,
      summary: 'Lets what failed be tried again at the next poll: all of it, or one request everywhere',
      capability,
      query: clearQuery,
      response: clearAnswer,
      async handle({ query: { fingerprint } }) {
        const cleared = await clear(await stateOf(), file, fingerprint);
        return { message: cleared === 1 ? '1 failure was cleared' : `${cleared} failures were cleared`, cleared };
      },
    });
  }
}

/** An answer of many thousands of entries, which is made while other requests are answered. */
function streamed(pieces: Iterable<string>) {
  return answer(Readable.from(joinedInSlices(pieces)), { headers: JSON_TYPE });
}

/** Returns how many failures were cleared. Throws a Problem 500, and clears none, when that cannot be saved. */
async function clear({ failed }: State, file: StateFile, fingerprint: string | undefined): Promise<number> {
  const wanted = fingerprint === undefined ? undefined : normalFingerprint(fingerprint);
  const chosen = [...failed].filter(([key]) => wanted === undefined || partsOfKey(key)[0] === wanted);
  if (chosen.length === 0) return 0;
  for (const [key] of chosen) failed.delete(key);
  try {
    await file.save();
  } catch (error) {
    for (const [key, failure] of chosen) if (!failed.has(key)) failed.set(key, failure);
    throw new Problem(500, `Nothing was cleared: ${errorText(error)}`, { cause: error });
  }
  return chosen.length;
}
