// Calls providers. Everything that can be refused is refused before a connection is opened, and every call has a
// deadline.
import { type Host, Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { isObject } from '#kit/plain-object';
import { WorkQueue } from '#kit/work-queue';
import type {
  ChatCompletions,
  ChatRequest,
  ChatResult,
  ModelEntry,
  ProviderAdapter,
  ProviderDescriptor,
  ProviderTarget,
} from '../contract.ts';
import type { Models } from './models.ts';
import { isRefusedKey, noTextFault, reasonOf, statusFault } from './provider-fault.ts';
import type { ProviderHttpClient } from './provider-http.ts';
import { checkOptions } from './provider-options.ts';
import { checkKey, type ProviderRecord } from './provider-record.ts';
import type { FoundProvider, Providers } from './providers.ts';
import { requestBase } from './target-url.ts';
import { usageOf, usualUsage } from './usage.ts';

const MAX_AT_ONCE = 4;
const MS_PER_S = 1_000;
const CHAT_BYTES = 8 * 1024 * 1024;
const MODELS_BYTES = 16 * 1024 * 1024;
/** How long after the deadline the call of an adapter that ignores its signal is given up. */
const GRACE_MS = 1_000;
const MODEL_OF_VENDORS = /^[A-Za-z0-9._:/-]+$/;

/** The provider to call, and how. */
export interface CallRecord extends ProviderRecord {
  /** The origin to which the key may be sent; undefined for one that was typed for this very call. */
  readonly keyOrigin: string | undefined;
}

export interface ChatOutcome {
  readonly text: string;
  readonly usage: Record<string, number | string>;
}

/** A call that has passed all checks. */
export interface ReadyCall {
  readonly record: CallRecord;
  readonly descriptor: ProviderDescriptor;
  readonly base: string;
  readonly key: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly found: FoundProvider;
  /** Added to the error when the provider refuses the key. */
  readonly keyHint: string;
}

export interface CallParts {
  readonly providers: Providers;
  readonly models: Models;
  readonly http: ProviderHttpClient;
  readonly completions: ChatCompletions;
}

export class ProviderCalls {
  readonly #host: Host;
  readonly #parts: CallParts;
  readonly #queue = new WorkQueue({ concurrency: MAX_AT_ONCE });
  readonly #adapters = new WeakMap<object, ProviderAdapter>();

  constructor(host: Host, parts: CallParts) {
    this.#host = host;
    this.#parts = parts;
  }

  /** Throws a Problem 400 for everything that is known to make a chat fail without asking the provider. */
  readyForChat(record: CallRecord): ReadyCall {
    if (record.model === '') throw new Problem(400, 'No model is configured; choose one and save the settings');
    const ready = this.#ready(record);
    const { found, descriptor } = ready;
    if (descriptor.endpoint.mode === 'managed' && !MODEL_OF_VENDORS.test(record.model))
      throw new Problem(400, `model has signs that no model of ${descriptor.label} has`);
    const { models } = this.#parts;
    const end = models.lifecycleOf(found, record.model);
    if (end?.status === 'retired')
      throw new Problem(
        400,
        `The model ${end.model} was shut down on ${end.shutdown_date}; choose ${end.replacement || 'another one'}`,
      );
    const fit = models.compatibilityOf(found, record.model);
    if (fit?.status === 'unsupported') throw new Problem(400, `The model ${fit.model} cannot be used: ${fit.reason}`);
    return ready;
  }

  /** Rejects with a Problem 502 or 504 whose sentence says what to do. */
  async chat(ready: ReadyCall, request: ChatRequest, signal: AbortSignal): Promise<ChatOutcome> {
    return this.#run(ready, CHAT_BYTES, signal, async (adapter, target) => {
      const { text, finishReason, rawUsage } = asResult(await adapter.chat(target, request));
      if (text.trim() === '') throw noTextFault(finishReason ?? '', ready.key);
      const usage = usageOf(adapter.mapUsage?.(rawUsage) ?? usualUsage(rawUsage), ready.record.provider);
      return { text, usage };
    });
  }

  /** The models that the service lists, with what is known of each. */
  async listModels(record: CallRecord, signal: AbortSignal): Promise<ModelEntry[]> {
    const ready = this.#ready(record);
    if (!this.hasModels(ready.found))
      throw new Problem(400, `${ready.descriptor.label} cannot list its models; enter the name of one`);
    const listed = await this.#run(ready, MODELS_BYTES, signal, async (adapter, target) =>
      asEntries((await adapter.listModels?.(target)) ?? []),
    );
    const { models } = this.#parts;
    const names = new Set<string>();
    return listed.flatMap(({ lifecycle, compatibility, ...entry }) => {
      const name = typeof entry.name === 'string' ? entry.name.trim() : '';
      if (name === '' || names.has(name)) return [];
      names.add(name);
      const end = models.lifecycleOf(ready.found, name) ?? lifecycle;
      const fit = models.compatibilityOf(ready.found, name) ?? compatibility;
      return [
        {
          ...withoutUndefined(entry),
          name,
          ...(isObject(end) ? { lifecycle: end } : {}),
          ...(isObject(fit) ? { compatibility: fit } : {}),
        },
      ];
    });
  }

  /**
   * Whether the provider can list models. True also when its adapter cannot be made; the request itself then fails with
   * the reason.
   */
  hasModels(found: FoundProvider): boolean {
    try {
      return this.#adapterOf(found).listModels !== undefined;
    } catch {
      return true;
    }
  }

  #ready(record: CallRecord): ReadyCall {
    const found = this.#parts.providers.require(record.provider);
    const { descriptor } = found;
    const { label } = descriptor;
    const base = this.#baseOf(descriptor, record.base_url);
    const options = checkOptions(descriptor, record.provider_options);
    const { origin } = new URL(base);
    const isForeign = record.keyOrigin !== undefined && record.keyOrigin !== origin;
    // A key that came into the file by hand was not checked when it was saved.
    const key = descriptor.key === 'none' || isForeign ? '' : checkKey(record.api_key);
    if (descriptor.key === 'required' && key === '') {
      const isStored = record.api_key !== '';
      throw new Problem(
        400,
        isStored
          ? `The stored key belongs to another address: enter the key again for ${origin}`
          : `${label} needs a key: enter it as api_key and save`,
      );
    }
    const keyHint = isForeign ? ` The stored key belongs to another address: enter the key again for ${origin}.` : '';
    return { record, found, descriptor, base, key, options, keyHint };
  }

  async #run<Result>(
    ready: ReadyCall,
    maxBytes: number,
    caller: AbortSignal,
    ask: (adapter: ProviderAdapter, target: ProviderTarget) => Promise<Result>,
  ): Promise<Result> {
    const { record, found, key, keyHint, descriptor } = ready;
    const timeoutMs = record.timeout_sec * MS_PER_S;
    const untilMs = performance.now() + timeoutMs;
    const late = new Problem(
      504,
      `The AI provider did not answer within ${record.timeout_sec} s; raise timeout_sec or choose a faster model`,
    );
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(late), timeoutMs);
    const signal = AbortSignal.any([caller, deadline.signal, this.#host.signal]);
    const work = async (): Promise<Result> => {
      const leftMs = untilMs - performance.now();
      const target = this.#target(ready, leftMs, signal);
      const isManaged = descriptor.endpoint.mode === 'managed';
      this.#parts.http.open(target, { key, maxBytes, untilMs, isManaged });
      const what = `the AI provider ${descriptor.value}`;
      return await withDeadline(() => ask(this.#adapterOf(found), target), leftMs + GRACE_MS, what);
    };
    try {
      return await this.#queue.add(work, { signal });
    } catch (error) {
      if (deadline.signal.aborted && !caller.aborted) throw late;
      if (caller.aborted) throw new Problem(503, 'The request was given up');
      if (this.#host.signal.aborted) throw new Problem(503, 'The assistant is being stopped; ask again later');
      const problem = this.#problemOf(descriptor, error);
      throw isRefusedKey(problem) && keyHint !== '' ? new Problem(502, `${problem.message}.${keyHint}`) : problem;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Throws a Problem; 502 for a fault of the provider's plugin. */
  #baseOf(descriptor: ProviderDescriptor, url: string): string {
    try {
      return requestBase(descriptor, url);
    } catch (error) {
      throw this.#problemOf(descriptor, error);
    }
  }

  #problemOf({ value }: ProviderDescriptor, error: unknown): Problem {
    if (error instanceof Problem) return error;
    this.#host.log.error(`the AI provider ${value} failed`, error);
    return new Problem(502, 'AI provider plugin failed; the log of the host has the reason');
  }

  #target({ record, base, descriptor, options }: ReadyCall, timeoutMs: number, signal: AbortSignal): ProviderTarget {
    return {
      baseUrl: base,
      model: record.model,
      auth: style => ({ style }),
      timeoutMs,
      temperature: descriptor.temperature ? record.temperature : undefined,
      options,
      signal,
    };
  }

  #adapterOf({ provider }: FoundProvider): ProviderAdapter {
    const known = this.#adapters.get(provider);
    if (known !== undefined) return known;
    const errors = {
      http: (status: number, text: string) => statusFault(status, reasonOf(text, undefined, '')),
      noText: (reason: string) => noTextFault(reason),
      config: (text: string) => new Problem(400, text),
    };
    const { http, completions } = this.#parts;
    const adapter = provider.create({ http, completions, log: this.#host.log, errors });
    this.#adapters.set(provider, adapter);
    return adapter;
  }
}

function asResult(given: unknown): ChatResult {
  if (!isObject(given) || typeof given.text !== 'string') throw new Error('its chat gives no object with a text');
  const { text, finishReason: reason, rawUsage } = given;
  return { text, finishReason: typeof reason === 'string' ? reason : undefined, rawUsage };
}

function asEntries(given: unknown): ModelEntry[] {
  if (!Array.isArray(given)) throw new Error('its listModels gives no list');
  return given.filter((entry): entry is ModelEntry => isObject(entry));
}

function withoutUndefined<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}
