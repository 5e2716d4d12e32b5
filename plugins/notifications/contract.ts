// What notifications offers to other plugins: types of destinations, and what happens in a form that people are told.

export type Severity = 'info' | 'success' | 'warning' | 'critical';

/** How the text of a message is to be read; `text` unless the URL of the destination says otherwise. */
export type MessageFormat = 'text' | 'markdown' | 'html';

/** One message on its way to one destination; its texts are within the destination's `limits`. */
export interface Message {
  /** The same at each attempt, so that receivers can tell a repetition. */
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly severity: Severity;
  /** May be empty; then only the body is shown. */
  readonly title: string;
  readonly body: string;
  /** null for what concerns no service. */
  readonly serviceName: string | null;
  /** Unix seconds at which it was queued. */
  readonly timestamp: number;
  /** 1 for the first. */
  readonly attempt: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Title, newline and body, for services that know no titles. */
  readonly text: string;
  /** The severity in the words that many services share. */
  readonly type: 'info' | 'success' | 'warning' | 'failure';
  /** The colour of the severity as a number, for example 0xC0392B. */
  readonly color: number;
  readonly format: MessageFormat;
}

/**
 * The URL of a destination, read without any look at the network: every part is percent-decoded and keeps its case,
 * and `#` is an ordinary character of paths.
 */
export interface DestinationUrl {
  /** The URL as it was given. */
  readonly text: string;
  /** In lower case. */
  readonly scheme: string;
  /** Whether the scheme is `https`, or another one of the destination's with an `s` at its end. */
  readonly isSecure: boolean;
  /** Empty when there is none, as are `password` and `host`. */
  readonly user: string;
  readonly password: string;
  /** IPv6 addresses are without brackets. */
  readonly host: string;
  readonly port: number | null;
  /** What stands between the user and the path, for services that put no host there: `id:key`. */
  readonly authority: string;
  /** The parts of the path that are not empty. */
  readonly segments: readonly string[];
  /** Keys are in lower case, except after `+`, `-` and `:`. The first value of each counts. */
  readonly query: ReadonlyMap<string, string>;
  /** Headers that the user configured beside the URL; empty for all but the generic webhook. */
  readonly headers: Readonly<Record<string, string>>;
  /** The members of the query that begin with this sign, without it. */
  prefixed(sign: '+' | '-' | ':'): Record<string, string>;
  /**
   * `http://host:port` or `https://host:port`, with this port where the URL has none, and none where both have none.
   * Throws a Problem when the host or the port is none.
   */
  base(defaultPort?: number): string;
  /** The segments from `start` to before `end`, as `slice` counts them, encoded and with a `/` before each. */
  path(start?: number, end?: number): string;
  /** The headers that the query names after `+`. Throws a Problem for one that a request cannot have. */
  extraHeaders(): Record<string, string>;
}

/** What a service accepts at most, counted in its own unit. What is longer is cut, and ends in `...`. */
export interface MessageLimits {
  readonly title?: number;
  readonly body?: number;
  /** Of `text`, which holds the title too. */
  readonly text?: number;
  /** Of title and body together. */
  readonly total?: number;
  /** `characters` are those of JavaScript's strings. Default `characters`. */
  readonly unit?: 'characters' | 'bytes';
}

export interface DeliveryRequest {
  /** Default POST. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value to be sent as JSON. */
  readonly json?: unknown;
  /** Members to be sent as a form; those that are undefined are left out. */
  readonly form?: Readonly<Record<string, string | undefined>>;
  /** A text to be sent as it is; a header names its type. */
  readonly body?: string;
  /** For `Authorization: Basic`; ignored where the user is empty. */
  readonly basic?: { readonly user: string; readonly password: string } | undefined;
}

export interface DeliveryAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** At most the first 64 KiB. */
  readonly text: string;
  /** The members of a JSON object; empty for any other answer. */
  readonly json: Readonly<Record<string, unknown>>;
}

export type DeliveryOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** One sentence for the history. Secrets of the URL and the headers are taken out of it. */
      readonly error: string;
      /** After how many seconds the service wants to be asked again. */
      readonly retryAfterSec?: number | undefined;
    };

/** How a service tells success, and where it says why it refused. */
export interface ExpectedAnswer {
  /** Those that mean success. Default 200 to 299. */
  readonly statuses?: readonly number[];
  /** Whether the body means success too. Default true. */
  readonly isOk?: boolean;
  /** Why it refused, where it is a text; otherwise what the answer says by itself. */
  readonly reason?: unknown;
  /**
   * The pause that the body asks for, where it is a number; otherwise that of `Retry-After` or of a rate limit's
   * header.
   */
  readonly retryAfterSec?: unknown;
}

/** What one attempt may use of the network. It has 15 s in all, whatever it asks for. */
export interface Delivery {
  /**
   * Sends a request. Follows no redirects and closes the connection after the answer. Private addresses are allowed.
   * Rejects when there is no answer; a destination need not catch that. Of an answer that breaks off, or does not end
   * in time, it gives the beginning.
   */
  request(url: string, request: DeliveryRequest): Promise<DeliveryAnswer>;
  /** The outcome for an answer; without `expected`, a status from 200 to 299 is success. */
  outcome(answer: DeliveryAnswer, expected?: ExpectedAnswer): DeliveryOutcome;
  /**
   * Sends to each target, one after the other. A failure is the outcome, but does not spare the targets after it; a
   * throw does. A repetition of the attempt spares those that were reached. Targets are plain data.
   */
  each<Target>(
    targets: readonly Target[],
    send: (target: Target) => Promise<DeliveryOutcome>,
  ): Promise<DeliveryOutcome>;
  /** For destinations with sockets of their own: aborts at the end of the attempt, which also is `timeoutMs`. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long the service may be silent. */
  readonly readTimeoutMs: number;
  readonly verifyTls: boolean;
  /** Name and version of the product. */
  readonly userAgent: string;
}

/**
 * One type of destinations; the key of the contribution is its name, for example `bell`. It parses URLs of its
 * schemes and sends messages. Everything else is done for it: retries, pauses, limits of time and size, the common
 * members of the query (`verify`, `format`, `overflow`, `cto`, `rto`) and keeping secrets out of errors.
 */
export interface NotificationDestination<Config = unknown> {
  /** In lower case, for example `['bell', 'bells']`. `http` and `https` are those of the generic webhook. */
  readonly schemes: readonly string[];
  /** An URL without secrets that shows the form, for example `bell://host/token`. */
  readonly example: string;
  readonly limits?: MessageLimits;
  /**
   * What stands for each character that the service would take for markup or a mention, unless the URL asks for
   * markup; `markdown` for those of Markdown, which a backslash escapes. `limits` count what is sent.
   */
  readonly escapes?: 'markdown' | Readonly<Record<string, string>>;
  /** Recognises http(s) URLs of the service itself, which people paste instead of one with a scheme. */
  native?(url: URL): boolean;
  /**
   * Reads the URL, at each save and before each attempt. Opens nothing and is synchronous. Throws a Problem 400, and
   * nothing else, with a sentence that says what is missing and holds no part of the URL.
   */
  parse(url: DestinationUrl): Config;
  /** Makes one attempt. What it throws is a failure like one that it returns. */
  send(config: Config, message: Message, delivery: Delivery): Promise<DeliveryOutcome>;
}

/** What people are told of one event. Secrets are taken out of all of it. */
export interface EventText {
  /** At most 300 characters are kept. */
  readonly title: string;
  /** At most 10,000 characters are kept. */
  readonly body: string;
  /** The process that it concerns; destinations can be limited to some. */
  readonly serviceName?: string;
  /** Where it is not that of the type. */
  readonly severity?: Severity;
  /** Plain data for receivers that are programs. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Tells conditions of one type apart, such as two paths: each has its own cooldown. */
  readonly conditionKey?: string;
  /** For the end of a condition, the type under which its beginning was told. */
  readonly recoveredType?: string;
  /** Whether it is told within the cooldown too. */
  readonly ignoresCooldown?: boolean;
}

/**
 * How people are told of one type of event (`host.emit`), contributed by the plugin that emits it; the key of the
 * contribution is the type.
 */
export interface NotificationEvent<Data = unknown> {
  readonly severity: Severity;
  /**
   * Where clients list the type, among 0 (messages that people send) and 1,200 (the end of a condition): lower numbers
   * first, equal ones in the order in which they were contributed. Default 900.
   */
  readonly order?: number;
  /** Whether it is told before the start of the host is over. Default false. */
  readonly duringStartup?: boolean;
  /** Whether it can happen at present; otherwise the type is not listed. Default: always. */
  isPossible?(): boolean;
  /** Synchronous. Called later than the event, and only while notifications are on. */
  describe(data: Data): EventText;
}

/** From which values people are told, as they are configured. */
export interface Thresholds {
  readonly cpu_percent: number;
  readonly memory_percent: number;
  readonly disk_percent: number;
  readonly inode_percent: number;
  readonly database_pressure: 'moderate' | 'high' | 'critical';
}

/**
 * One thing that can be so for a while, and be over: a value that has crossed its threshold, or something that fails.
 */
export interface Condition<Type extends string = string> {
  /** Tells it from the others of its source, such as `disk:/mnt/media`. */
  readonly key: string;
  /** The type of the event by which its beginning is told. */
  readonly type: Type;
  /** null where nothing can be told at present, so that what was known stays. */
  readonly isTrue: boolean | null;
  readonly title: string;
  readonly body: string;
  /** The title when it is over. */
  readonly overTitle: string;
  /** null for a condition without a value. */
  readonly value: number | string | null;
  readonly serviceName?: string;
  /** Whether people are told once more when it becomes this bad. */
  readonly isCritical: boolean;
}

/**
 * Conditions of one area, which are watched at each interval. The key of the contribution, and a colon, stand before
 * their keys. Each is told when it has been true for as long as configured, once, and again when it is over.
 */
export interface ConditionSource<Type extends string = string> {
  /** Whether there can be any at present. Default: always. */
  isPossible?(): boolean;
  /** What is the case now; one that is not given any more is forgotten. null while nothing is known of any. */
  observe(thresholds: Thresholds): Promise<readonly Condition<Type>[] | null>;
  /**
   * Emits the event of this type, whose owner is the plugin that contributes this; the `describe` of its
   * `notifications.event` gives the event as it is.
   */
  tell(type: Type, event: ConditionEvent): void;
}

/** The beginning or the end of a condition, as people are told of it. */
export interface ConditionEvent extends EventText {
  /** For example `resource:disk:/mnt/media`. */
  readonly conditionKey: string;
}

declare module '#core' {
  interface Events {
    /** The processors have been as busy as the threshold for as long as configured. */
    'resource.cpu.high': ConditionEvent;
    /** The memory has been as full as the threshold for as long as configured. */
    'resource.memory.high': ConditionEvent;
    /** A monitored path has been as full as the threshold for as long as configured. */
    'resource.disk.high': ConditionEvent;
    /** A monitored path has had as few inodes left as the threshold for as long as configured. */
    'resource.inode.high': ConditionEvent;
    /** A condition that people were told of is over. */
    recovery: ConditionEvent & { readonly recoveredType: string };
  }
  interface Contributions {
    /** How people are told of one type of event. */
    'notifications.event': NotificationEvent;
    /** Conditions of one area that are watched, such as values that cross a threshold. */
    'notifications.condition': ConditionSource;
    /** A type of destinations of notifications, told by the schemes of its URLs. */
    'notifications.destination': NotificationDestination;
  }
}
