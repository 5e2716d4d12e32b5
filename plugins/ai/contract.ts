// What the assistant offers to other plugins: types of model providers, and of what a diagnosis rests on. Members that
// clients and providers see have the names of the wire.
import type { Logger, NamedBlock } from '#core';

export type MessageRole = 'system' | 'user' | 'assistant';

export interface ChatMessage {
  readonly role: MessageRole;
  readonly content: string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** How long an answer may be, in tokens, for services that must be told. */
  readonly maxOutputTokens: number;
}

export interface ChatResult {
  /** May be empty, which the assistant tells as a failure with the reason `finishReason`. */
  readonly text: string;
  /** In the provider's own word. */
  readonly finishReason?: string | undefined;
  /** The part of the answer that counts tokens, as it came. */
  readonly rawUsage?: unknown;
}

/** Counts of one call. Only finite numbers are kept, under any name. */
export interface Usage {
  readonly prompt_tokens?: number | undefined;
  readonly completion_tokens?: number | undefined;
  readonly total_tokens?: number | undefined;
  readonly [count: string]: unknown;
}

/** One model as a provider lists it; members that are undefined are left out. */
export interface ModelEntry {
  readonly name: string;
  readonly source?: 'local' | 'external' | 'unknown';
  readonly source_detail?: string | undefined;
  readonly owned_by?: string | null;
  /** What a gateway itself says of the end of a model. */
  readonly lifecycle?: unknown;
  readonly compatibility?: unknown;
  readonly [fact: string]: unknown;
}

/** How a key is sent: as a bearer token, or in a header of its own. */
export type KeyStyle = 'bearer' | { readonly header: string };

/** Stands for the key in the headers of a request. The assistant puts the key in; an adapter never sees it. */
export interface KeyHeader {
  readonly style: KeyStyle;
}

/** What one call is for. */
export interface ProviderTarget {
  /** Where paths of requests are resolved: a URL without a slash at its end. */
  readonly baseUrl: string;
  /** Empty only while models are listed. */
  readonly model: string;
  auth(style: KeyStyle): KeyHeader;
  /** What is left of the call's time, in milliseconds, when it begins. */
  readonly timeoutMs: number;
  /** Undefined where the descriptor says that none is sent. */
  readonly temperature?: number | undefined;
  /** The provider's own options, which fit `optionsSchema`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface RequestHeaders {
  /** Where the key goes; nothing is sent where no key is stored. */
  readonly key?: KeyHeader;
  /** Further headers, with names in lower case. */
  readonly more?: Readonly<Record<string, string>>;
}

/**
 * Requests of adapters. They follow no redirect, reach no origin but the target's, and reject with a Problem for every
 * status but those of success, with the code `ai.http.<status>`, for what is not JSON, and for what comes late or is
 * too large. The answer's objects have no prototype.
 */
export interface ProviderHttp {
  /** `path` is resolved below the target's base; a whole URL must have the same origin. */
  getJson(target: ProviderTarget, path: string, headers?: RequestHeaders): Promise<unknown>;
  postJson(target: ProviderTarget, path: string, body: unknown, headers?: RequestHeaders): Promise<unknown>;
}

/** The failures that an adapter itself finds. */
export interface ProviderErrors {
  /** The service refused, though the status of its answer did not say so. */
  http(status: number, text: string): Error;
  /** The answer has no text. */
  noText(reason: string): Error;
  /** What is configured cannot work; a sentence that says what to do. */
  config(text: string): Error;
}

/** The protocol of chat completions, which many services share. A key goes into a bearer token. */
export interface ChatCompletions {
  /** Sends the messages to `path`, with the option `max_tokens` and the temperature of the target. */
  chat(target: ProviderTarget, request: ChatRequest, path: string): Promise<ChatResult>;
  /**
   * The entries of a list of models. With `source`, each tells where its model runs, as far as its name and the facts
   * beside it do.
   */
  models(target: ProviderTarget, path: string, options?: { readonly source?: boolean }): Promise<ModelEntry[]>;
}

/** What the assistant gives to an adapter. */
export interface ProviderContext {
  readonly http: ProviderHttp;
  readonly log: Logger;
  readonly errors: ProviderErrors;
  readonly completions: ChatCompletions;
}

/** Speaks with one kind of service. It has the key, redirects, limits of time and size and errors done for it. */
export interface ProviderAdapter {
  /** Asks for the models. An adapter without it cannot list any. */
  listModels?(target: ProviderTarget): Promise<readonly ModelEntry[]>;
  chat(target: ProviderTarget, request: ChatRequest): Promise<ChatResult>;
  /** Reads `rawUsage` where the usual names do not do. */
  mapUsage?(raw: unknown): Usage;
}

/** When a model ends, and what its vendor names in its place. */
export interface ModelEnd {
  readonly model: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly shutdown_date: string;
  readonly replacement: string;
}

/** Whether a model can answer in text over the interface that the adapter uses. */
export interface ModelFit {
  readonly status: 'supported' | 'unsupported' | 'unknown';
  readonly api_surface: string;
  /** A sentence for people. */
  readonly reason: string;
}

export type ProviderEndpoint =
  | {
      readonly mode: 'managed';
      /** As clients are shown it. */
      readonly url: string;
      /** The https URL below which all requests go. Default `url`. */
      readonly apiBase?: string;
    }
  | {
      readonly mode: 'custom';
      /** Stands in for a blank one. */
      readonly defaultUrl?: string;
      /** Makes the base of requests of what people paste. Synchronous; gives an http(s) URL of the same origin. */
      normalize?(url: URL): URL;
    };

export interface ProviderDescriptor {
  /** How it is stored and sent, unique over all values, aliases and tokens of all providers. */
  readonly value: string;
  /** Further spellings, which are stored as they are sent. */
  readonly aliases?: readonly string[];
  /** Neutral names: the first is stored as `value`, a further one as the alias in its place, or as `value` too. */
  readonly tokens?: readonly string[];
  /** The name of the service or its vendor. */
  readonly label: string;
  /** A prompt for it is cut to so many characters. */
  readonly promptBudgetChars: number;
  /** Where models run. */
  readonly locality: 'local' | 'external' | 'mixed';
  readonly endpoint: ProviderEndpoint;
  readonly key: 'required' | 'optional' | 'none';
  /** Whether requests say a temperature. */
  readonly temperature: boolean;
  /** What a save that changes to this provider takes where its own values are blank. */
  readonly defaults?: {
    readonly base_url?: string;
    readonly model?: string;
    readonly timeout_sec?: number;
    readonly temperature?: number;
  };
  /** JSON Schema (draft 7) of `provider_options`. Absent: there are none. */
  readonly optionsSchema?: Readonly<Record<string, unknown>>;
  /** Further flags, which begin with `ai_`. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Models that end, or have ended. */
  readonly models?: { readonly sourceUrl: string; readonly lifecycle: readonly ModelEnd[] };
  /** Synchronous. null where nothing can be said. Absent: nothing is ever said. */
  compatibility?(model: string): ModelFit | null;
}

/** One kind of model services; the key of the contribution is the name of its plugin. */
export interface AiProvider {
  readonly descriptor: ProviderDescriptor;
  /** Called once, when the provider is first used. */
  create(context: ProviderContext): ProviderAdapter;
}

export type DiagnosisScope = 'service' | 'stack';

export type Comparison = 'previous_period' | 'since_change' | 'none';

/** A span of time in milliseconds since the epoch; `toMs` does not belong to it. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The span that a diagnosis looks at, and the one that it is compared with. */
export interface EvidenceWindow {
  readonly current: TimeSpan;
  /** null without a comparison. */
  readonly baseline: TimeSpan | null;
  readonly comparison: Comparison;
}

/** A process that a diagnosis is about. */
export interface EvidenceTarget {
  readonly processName: string;
  /** Path of its block in the configuration. */
  readonly path: readonly string[];
  readonly configKey: string;
  /** null for a block that is no instance. */
  readonly instanceName: string | null;
  readonly enabled: boolean;
  /** As the process plugin tells it; `unknown` where nobody does. */
  readonly status: string;
  /** null where nobody knows. */
  readonly healthy: boolean | null;
}

/** What can be left out of a diagnosis, as its switches `include_<name>` and `deep_log_scan` say. */
export type EvidenceSwitch =
  | 'logs'
  | 'service_config'
  | 'dependency_graph'
  | 'docs_context'
  | 'metrics'
  | 'change_history'
  | 'native_diagnostics'
  | 'process_list'
  | 'deep_log_scan';

/** One diagnosis on its way. */
export interface EvidenceRequest {
  readonly scope: DiagnosisScope;
  /** The one process of a service; of a stack every process of the configuration, in its order. */
  readonly targets: readonly EvidenceTarget[];
  /**
   * Those whose logs are read: the one process, or of a stack at most 12, those first that the question names or that
   * are not well.
   */
  readonly logTargets: readonly EvidenceTarget[];
  /** Without secrets; empty where none was asked. */
  readonly question: string;
  readonly window: EvidenceWindow;
  readonly switches: ReadonlySet<EvidenceSwitch>;
  /** Characters of the end of one log. */
  readonly maxLogChars: number;
  /** Bytes of logs that are read, of all log targets together. */
  readonly maxLogScanBytes: number;
  readonly maxDocsChars: number;
  /** Processes that a stack lists. */
  readonly maxServices: number;
  /** What sources of earlier stages have given, by the names of the bundle. */
  readonly gathered: Readonly<Record<string, unknown>>;
  /** Fires when nobody waits for the diagnosis any more, and when the time of the source is over. */
  readonly signal: AbortSignal;
}

/** What an owner may do about a finding. Nothing is ever done by itself. */
export interface Recommendation {
  /** Unique within one diagnosis. */
  readonly id: string;
  readonly title: string;
  readonly risk: 'low' | 'medium';
  readonly action: 'review' | 'observe';
  /** What was found, with measured values. */
  readonly reason: string;
}

/** What a source has found. Plain data; secrets are taken out of it by the assistant. */
export interface Evidence {
  /** Members of the bundle. */
  readonly members: Readonly<Record<string, unknown>>;
  /** What of `coverage` it really has; the rest stays as it is there. */
  readonly coverage?: Readonly<Record<string, boolean | number>>;
  readonly recommendations?: readonly Recommendation[];
}

/**
 * One source of evidence; the key of the contribution is the member of the bundle that says `{available: false,
 * reason}` when it fails or is late.
 */
export interface EvidenceSource {
  /**
   * The kinds of diagnoses that it has a part in, and what `diagnostic_coverage` says of each while it has given
   * nothing: false, or 0 for a number of services.
   */
  readonly coverage: Readonly<Partial<Record<DiagnosisScope, Readonly<Record<string, false | 0>>>>>;
  /** It is asked where all of these are on. Default: always. */
  readonly switches?: readonly EvidenceSwitch[];
  /** Sources of one stage are asked at once, after those of lower stages have ended. Default 0. */
  readonly stage?: number;
  /** How long it may take, at most 60 s. Default 20 s. */
  readonly deadlineMs?: number;
  /** Reads only. Undefined where there is nothing to say. */
  collect(request: EvidenceRequest): Promise<Evidence | undefined>;
}

/** Lines of a log that tell a collector more than the analysis of logs does. */
export interface LinePattern {
  /** At least three signs of ASCII in lower case; a line without it is not tried. */
  readonly word: string;
  /** Tried on what stands behind the time of a line, in time that grows with its length alone. */
  readonly pattern: RegExp;
}

export interface MatchedLine {
  readonly atMs: number;
  /** Index in the patterns of the collector. */
  readonly pattern: number;
  /** What the groups of the pattern matched; empty for one that took no part. */
  readonly groups: readonly string[];
}

/** The newest 20,000 of each span, oldest first. */
export interface MatchedLines {
  readonly current: readonly MatchedLine[];
  readonly baseline: readonly MatchedLine[] | null;
}

/** What a service tells of itself in its own files: read, never changed, by statements that are fixed. */
export interface NativeCollector {
  readonly configKey: string;
  /** Looked for while the log of the service is analysed; at most 30. Default: none. */
  readonly lines?: readonly LinePattern[];
  /**
   * Gives members of `native_diagnostics`, with what their numbers do not tell in `limitations`. What cannot be read is
   * no reason to throw as long as something can.
   */
  collect(request: {
    readonly service: NamedBlock;
    readonly window: EvidenceWindow;
    /** undefined where the log was not analysed. */
    readonly lines: MatchedLines | undefined;
    readonly signal: AbortSignal;
  }): Promise<Readonly<Record<string, unknown>>>;
}

/** A question that is asked often; the key of the contribution is its id. */
export interface AiPreset {
  readonly scope: DiagnosisScope;
  /** A word or two. */
  readonly label: string;
  readonly question: string;
}

declare module '#core' {
  interface Contributions {
    /** What a service tells of itself in its own files, for diagnoses. */
    'ai.native-collector': NativeCollector;
    /** A kind of model services that the assistant can ask. */
    'ai.provider': AiProvider;
    /** A source of what a diagnosis rests on. */
    'ai.evidence': EvidenceSource;
    /** A question that is asked often, after those of the product. */
    'ai.preset': AiPreset;
  }
}
