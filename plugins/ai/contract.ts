// What other plugins contribute to the assistant: model providers and sources of evidence for diagnoses. Members that
// clients and providers see have the names of the wire.
import type { Logger, NamedBlock } from '#core';

export type MessageRole = 'system' | 'user' | 'assistant';

export interface ChatMessage {
  readonly role: MessageRole;
  readonly content: string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** The largest length of an answer in tokens, for services that must be told one. */
  readonly maxOutputTokens: number;
}

export interface ChatResult {
  /** May be empty; the assistant then reports a failure with the reason `finishReason`. */
  readonly text: string;
  /** Why the answer ended, in the provider's own word. */
  readonly finishReason?: string | undefined;
  /** The part of the answer with the token counts, unchanged. */
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
  /** What a gateway itself says about the end of a model. */
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

/** The service that one call asks, and how. */
export interface ProviderTarget {
  /** Where paths of requests are resolved: a URL without a slash at its end. */
  readonly baseUrl: string;
  /** Empty only while models are listed. */
  readonly model: string;
  auth(style: KeyStyle): KeyHeader;
  /** Milliseconds that are left for the call when it begins. */
  readonly timeoutMs: number;
  /** undefined when the descriptor says that no temperature is sent. */
  readonly temperature?: number | undefined;
  /** The provider's own options, which fit `optionsSchema`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface RequestHeaders {
  /** Where the key goes. Nothing is sent when no key is stored. */
  readonly key?: KeyHeader;
  /** Further headers, with names in lower case. */
  readonly more?: Readonly<Record<string, string>>;
}

/**
 * The requests of adapters. They follow no redirect and reach only the origin of the target. They reject with a Problem
 * for every status other than success (with the code `ai.http.<status>`), and for an answer that is not JSON, is late
 * or is too large. The objects of an answer have no prototype.
 */
export interface ProviderHttp {
  /** `path` is resolved below the target's base; a whole URL must have the same origin. */
  getJson(target: ProviderTarget, path: string, headers?: RequestHeaders): Promise<unknown>;
  postJson(target: ProviderTarget, path: string, body: unknown, headers?: RequestHeaders): Promise<unknown>;
}

/** The failures that an adapter itself finds. */
export interface ProviderErrors {
  /** The service refused, although the status of its answer was one of success. */
  http(status: number, text: string): Error;
  /** The answer has no text. */
  noText(reason: string): Error;
  /** The configuration cannot work. `text` is a sentence that says what to do. */
  config(text: string): Error;
}

/** The protocol of chat completions, which many services share. The key is sent as a bearer token. */
export interface ChatCompletions {
  /** Sends the messages to `path`, with the option `max_tokens` and the temperature of the target. */
  chat(target: ProviderTarget, request: ChatRequest, path: string): Promise<ChatResult>;
  /**
   * The entries of a list of models. With `source`, each entry says where its model runs, as far as its name and the
   * listed facts tell.
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

/** Speaks with one kind of service. The assistant handles the key, redirects, limits of time and size, and errors. */
export interface ProviderAdapter {
  /** Lists the models of the service. An adapter without this method cannot list any. */
  listModels?(target: ProviderTarget): Promise<readonly ModelEntry[]>;
  chat(target: ProviderTarget, request: ChatRequest): Promise<ChatResult>;
  /** Reads `rawUsage` of a service that uses other names than the usual ones. */
  mapUsage?(raw: unknown): Usage;
}

/** The day on which a model ends, and the replacement that its vendor names. */
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
      /** The URL that clients are shown. */
      readonly url: string;
      /** The https URL below which all requests go. Default `url`. */
      readonly apiBase?: string;
    }
  | {
      readonly mode: 'custom';
      /** Used when the URL is blank. */
      readonly defaultUrl?: string;
      /**
       * Turns the URL that a user has entered into the base of requests, an http(s) URL of the same origin.
       * Synchronous.
       */
      normalize?(url: URL): URL;
    };

export interface ProviderDescriptor {
  /** The name that is stored and sent, unique among all values, aliases and tokens of all providers. */
  readonly value: string;
  /** Further names, which are stored as they are sent. */
  readonly aliases?: readonly string[];
  /**
   * Neutral names: the first is stored as `value`, each further one as the alias at its position, or as `value` if
   * there is none.
   */
  readonly tokens?: readonly string[];
  /** The name of the service or its vendor. */
  readonly label: string;
  /** Prompts are cut to this many characters. */
  readonly promptBudgetChars: number;
  /** Where models run. */
  readonly locality: 'local' | 'external' | 'mixed';
  readonly endpoint: ProviderEndpoint;
  readonly key: 'required' | 'optional' | 'none';
  /** Whether requests send a temperature. */
  readonly temperature: boolean;
  /** Values for a save that changes to this provider, where its own values are blank. */
  readonly defaults?: {
    readonly base_url?: string;
    readonly model?: string;
    readonly timeout_sec?: number;
    readonly temperature?: number;
  };
  /** JSON Schema (draft 7) of `provider_options`. Default: no options. */
  readonly optionsSchema?: Readonly<Record<string, unknown>>;
  /** Further capability flags, whose names begin with `ai_`. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Models that will end or have ended. */
  readonly models?: { readonly sourceUrl: string; readonly lifecycle: readonly ModelEnd[] };
  /** Whether a model can be used; null when that is not known. Synchronous. */
  compatibility?(model: string): ModelFit | null;
}

/** One kind of model service; the key of the contribution is the name of its plugin. */
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

/** The span that a diagnosis looks at, and the span that it is compared with. */
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
  /** The status by the process plugin; `unknown` when it has none. */
  readonly status: string;
  /** null when the health is not known. */
  readonly healthy: boolean | null;
}

/** The parts of a diagnosis that can be switched off, by `include_<name>` and `deep_log_scan`. */
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

/** The diagnosis for which a source is asked. */
export interface EvidenceRequest {
  readonly scope: DiagnosisScope;
  /** For a service its one process; for a stack every process of the configuration, in its order. */
  readonly targets: readonly EvidenceTarget[];
  /**
   * The targets whose logs are read: the one process, or at most 12 of a stack, first those that the question names or
   * that are not well.
   */
  readonly logTargets: readonly EvidenceTarget[];
  /** The question without secrets; empty when there is none. */
  readonly question: string;
  readonly window: EvidenceWindow;
  readonly switches: ReadonlySet<EvidenceSwitch>;
  /** How many characters are shown of the end of one log. */
  readonly maxLogChars: number;
  /** How many bytes of logs are read, for all log targets together. */
  readonly maxLogScanBytes: number;
  readonly maxDocsChars: number;
  /** How many processes of a stack are listed. */
  readonly maxServices: number;
  /** What sources of earlier stages have given, by the names of members of the bundle. */
  readonly gathered: Readonly<Record<string, unknown>>;
  /** Aborts when no client waits for the diagnosis any more, and at the deadline of the source. */
  readonly signal: AbortSignal;
}

/** What the owner may do about a finding. The assistant never does anything itself. */
export interface Recommendation {
  /** Unique within one diagnosis. */
  readonly id: string;
  readonly title: string;
  readonly risk: 'low' | 'medium';
  readonly action: 'review' | 'observe';
  /** Why the action is recommended, with measured values. */
  readonly reason: string;
}

/** What a source has found, as plain data. The assistant masks the secrets in it. */
export interface Evidence {
  /** Members of the bundle. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The members of the source's `coverage` that it really has; the others keep their values. */
  readonly coverage?: Readonly<Record<string, boolean | number>>;
  readonly recommendations?: readonly Recommendation[];
}

/**
 * One source of evidence; the key of the contribution is the member of the bundle that says `{available: false,
 * reason}` when it fails or is late.
 */
export interface EvidenceSource {
  /**
   * The kinds of diagnoses for which the source is asked, each with its members of `diagnostic_coverage` while the
   * source has given nothing: false, or 0 for a number of services.
   */
  readonly coverage: Readonly<Partial<Record<DiagnosisScope, Readonly<Record<string, false | 0>>>>>;
  /** The source is asked only when all of these are on. Default: always. */
  readonly switches?: readonly EvidenceSwitch[];
  /** Sources of one stage are asked at once, after those of lower stages have ended. Default 0. */
  readonly stage?: number;
  /** How long it may take, at most 60 s. Default 20 s. */
  readonly deadlineMs?: number;
  /** Must change nothing. Gives undefined when there is nothing to say. */
  collect(request: EvidenceRequest): Promise<Evidence | undefined>;
}

/** A pattern of log lines that tell a collector more than the analysis of logs does. */
export interface LinePattern {
  /** At least three ASCII characters in lower case. Only lines with this word are tried. */
  readonly word: string;
  /** Tried on the text behind the time of a line. It must take linear time. */
  readonly pattern: RegExp;
}

export interface MatchedLine {
  readonly atMs: number;
  /** Index in the patterns of the collector. */
  readonly pattern: number;
  /** What the groups of the pattern matched; an empty text for a group that matched nothing. */
  readonly groups: readonly string[];
}

/** The newest 20,000 matched lines of each span, oldest first. */
export interface MatchedLines {
  readonly current: readonly MatchedLine[];
  readonly baseline: readonly MatchedLine[] | null;
}

/** Reads what a service keeps about itself in its own files, with fixed statements that change nothing. */
export interface NativeCollector {
  readonly configKey: string;
  /** Patterns that are looked for while the log of the service is analysed, at most 30. Default: none. */
  readonly lines?: readonly LinePattern[];
  /**
   * Gives members of `native_diagnostics`; `limitations` names what the numbers do not tell. Rejects only when nothing
   * at all can be read.
   */
  collect(request: {
    readonly service: NamedBlock;
    readonly window: EvidenceWindow;
    /** undefined when the log was not analysed. */
    readonly lines: MatchedLines | undefined;
    readonly signal: AbortSignal;
  }): Promise<Readonly<Record<string, unknown>>>;
}

/** A frequent question; the key of the contribution is its id. */
export interface AiPreset {
  readonly scope: DiagnosisScope;
  /** A word or two. */
  readonly label: string;
  readonly question: string;
}

declare module '#core' {
  interface Contributions {
    /** Reads what a service keeps about itself in its own files, for diagnoses. */
    'ai.native-collector': NativeCollector;
    /** A kind of model service that the assistant can ask. */
    'ai.provider': AiProvider;
    /** A source of evidence for diagnoses. */
    'ai.evidence': EvidenceSource;
    /** A frequent question, listed after those of the product. */
    'ai.preset': AiPreset;
  }
}
