// What notifications offers to other plugins: types of destinations, messages about events, and watched conditions.

export type Severity = 'info' | 'success' | 'warning' | 'critical';

/** The markup of a message's text; `text`, which is no markup, unless the URL of the destination says otherwise. */
export type MessageFormat = 'text' | 'markdown' | 'html';

/** One message to one destination. Its texts are within the destination's `limits`. */
export interface Message {
  /** The same at each attempt, so that receivers can recognise a repetition. */
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly severity: Severity;
  /** May be empty; then only the body is shown. */
  readonly title: string;
  /** May be empty too; a service that refuses such a message gets the title as the body. */
  readonly body: string;
  /** null when the message concerns no service. */
  readonly serviceName: string | null;
  /** When the event happened, in Unix seconds. */
  readonly timestamp: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Title, newline and body, for services without titles. */
  readonly text: string;
  /** The severity in the words that many services share. */
  readonly type: 'info' | 'success' | 'warning' | 'failure';
  /** The colour of the severity as a number, for example 0xC0392B. */
  readonly color: number;
  readonly format: MessageFormat;
}

/**
 * The parsed URL of a destination. Every part is percent-decoded and keeps its case, and `#` is an ordinary character
 * of paths.
 */
export interface DestinationUrl {
  /** The URL as it was given. */
  readonly text: string;
  /** In lower case. */
  readonly scheme: string;
  /** Whether the scheme is `https`, or one of the destination's schemes with an `s` added. */
  readonly isSecure: boolean;
  /** Empty when there is none, as are `password` and `host`. */
  readonly user: string;
  readonly password: string;
  /** IPv6 addresses are without brackets. */
  readonly host: string;
  readonly port: number | null;
  /** The text between user and path, for services that use it for something other than a host, such as `id:key`. */
  readonly authority: string;
  /** The parts of the path that are not empty. */
  readonly segments: readonly string[];
  /** Keys are in lower case, except after `+`, `-` and `:`. The first value of each counts. */
  readonly query: ReadonlyMap<string, string>;
  /** Headers that the user configured beside the URL; always empty except for the generic webhook. */
  readonly headers: Readonly<Record<string, string>>;
  /** The members of the query whose keys begin with this sign; the sign is removed from the keys. */
  prefixed(sign: '+' | '-' | ':'): Record<string, string>;
  /**
   * `http://host:port` or `https://host:port`. The port is that of the URL, else `defaultPort`; without both there is
   * none. Throws a Problem 400 when the host is missing or not valid.
   */
  base(defaultPort?: number): string;
  /** The segments from `start` to before `end`, as `slice` counts them, encoded and with a `/` before each. */
  path(start?: number, end?: number): string;
  /** The headers that the query names after `+`. Throws a Problem 400 for a header that a request cannot have. */
  extraHeaders(): Record<string, string>;
}

/** The longest texts that a service accepts, counted in its own unit. A longer text is cut and ends in `...`. */
export interface MessageLimits {
  readonly title?: number;
  readonly body?: number;
  /** The limit of `text`, which contains the title too. */
  readonly text?: number;
  /** The limit of title and body together. */
  readonly total?: number;
  /** `characters` are UTF-16 code units, as in JavaScript strings. Default `characters`. */
  readonly unit?: 'characters' | 'bytes';
}

export interface DeliveryRequest {
  /** Default POST. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value to be sent as JSON. */
  readonly json?: unknown;
  /** Members to be sent as a form; undefined ones are left out. */
  readonly form?: Readonly<Record<string, string | undefined>>;
  /** A text to be sent as it is; the caller names its type in a header. */
  readonly body?: string;
  /** Credentials for `Authorization: Basic`; ignored when the user is empty. */
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
      /** One sentence for the history. Secrets of the URL and the headers are removed from it. */
      readonly error: string;
      /** The seconds that the service asks to wait before the next attempt. */
      readonly retryAfterSec?: number | undefined;
    };

/** How to recognise success in an answer, and what the answer says about a refusal. */
export interface ExpectedAnswer {
  /** The statuses that mean success. Default 200 to 299. */
  readonly statuses?: readonly number[];
  /** Whether the body means success too. Default true. */
  readonly isOk?: boolean;
  /** The reason of a refusal. When it is not a string, the reason is looked for in the answer. */
  readonly reason?: unknown;
  /** The pause in seconds that the body asks for. When it is not a number, the headers of the answer count. */
  readonly retryAfterSec?: unknown;
}

/** What one attempt may use of the network. The attempt ends after 15 s, whatever it does. */
export interface Delivery {
  /**
   * Sends a request. Follows no redirects and closes the connection after the answer. Private addresses are allowed.
   * Rejects when there is no answer, which a destination need not catch. Gives the beginning of an answer that breaks
   * off or does not end in time.
   */
  request(url: string, request: DeliveryRequest): Promise<DeliveryAnswer>;
  /** The outcome for an answer; without `expected`, a status from 200 to 299 is success. */
  outcome(answer: DeliveryAnswer, expected?: ExpectedAnswer): DeliveryOutcome;
  /**
   * Sends to each target, one after the other. The outcome is that of the first target that fails; the others are still
   * sent to, unless `send` throws. A repetition of the attempt skips targets that were reached. Targets are plain data.
   */
  each<Target>(
    targets: readonly Target[],
    send: (target: Target) => Promise<DeliveryOutcome>,
  ): Promise<DeliveryOutcome>;
  /** For destinations with sockets of their own: aborts at the end of the attempt, after at most `timeoutMs`. */
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
 * schemes and sends messages. The plugin notifications does everything else: retries, pauses, limits of time and size,
 * the common members of the query (`verify`, `format`, `overflow`, `cto`, `rto`) and keeping secrets out of errors.
 */
export interface NotificationDestination<Config = unknown> {
  /** In lower case, for example `['bell', 'bells']`. `http` and `https` belong to the generic webhook. */
  readonly schemes: readonly string[];
  /** An URL without secrets that shows the form, for example `bell://host/token`. */
  readonly example: string;
  readonly limits?: MessageLimits;
  /**
   * The replacement for each character that the service would take for markup or a mention; `markdown` escapes those of
   * Markdown by a backslash. Not applied when the URL asks for markup. `limits` count the text after the replacement.
   */
  readonly escapes?: 'markdown' | Readonly<Record<string, string>>;
  /** Recognises http(s) URLs of the service itself, which people paste instead of one with a scheme. */
  native?(url: URL): boolean;
  /**
   * Parses the URL, at each save and before each attempt. Opens nothing and is synchronous. Throws nothing but a
   * Problem 400, with a sentence that says what is missing and contains no part of the URL.
   */
  parse(url: DestinationUrl): Config;
  /** Makes one attempt. An error that it throws counts as a failure like one that it returns. */
  send(config: Config, message: Message, delivery: Delivery): Promise<DeliveryOutcome>;
}

/** The message about one event. Secrets are removed from all of its members. */
export interface EventText {
  /** At most 300 characters are kept. */
  readonly title: string;
  /** At most 10,000 characters are kept. */
  readonly body: string;
  /** The process that the event concerns; destinations can be limited to some processes. */
  readonly serviceName?: string;
  /** The severity of this event. Default: that of its type. */
  readonly severity?: Severity;
  /** Plain data for receivers that are programs. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Distinguishes conditions of one type, such as two paths: each has its own cooldown. */
  readonly conditionKey?: string;
  /** For the end of a condition: the type of the event that announced its beginning. */
  readonly recoveredType?: string;
  /** Whether the message is sent even within the cooldown. Default false. */
  readonly ignoresCooldown?: boolean;
}

/**
 * How messages are made of one type of event (`host.emit`), contributed by the plugin that emits it; the key of the
 * contribution is the type.
 */
export interface NotificationEvent<Data = unknown> {
  readonly severity: Severity;
  /**
   * The place of the type in lists of clients: lower numbers come first, equal ones in the order of contribution. The
   * end of a condition has 1,200; messages that users send always come first. Default 900.
   */
  readonly order?: number;
  /** Whether messages are also made of events during the start of the host. Default false. */
  readonly duringStartup?: boolean;
  /** Whether the event can happen at present; otherwise the type is not listed. Default: always. */
  isPossible?(): boolean;
  /** Synchronous. Called later than the event, and only while notifications are on. */
  describe(data: Data): EventText;
}

/** The configured values from which on a condition is true. */
export interface Thresholds {
  readonly cpu_percent: number;
  readonly memory_percent: number;
  readonly disk_percent: number;
  readonly inode_percent: number;
  readonly database_pressure: 'moderate' | 'high' | 'critical';
}

/** A state that can begin and end: a value has crossed its threshold, or something fails. */
export interface Condition<Type extends string = string> {
  /** Identifies the condition within its source, such as `disk:/mnt/media`. */
  readonly key: string;
  /** The type of the event that announces its beginning. */
  readonly type: Type;
  /** null when that is unknown at present: the last known state then stays. */
  readonly isTrue: boolean | null;
  readonly title: string;
  readonly body: string;
  /** The title of the message about its end. */
  readonly overTitle: string;
  /** null for a condition without a value. */
  readonly value: number | string | null;
  readonly serviceName?: string;
  /** Whether it is critical now. A condition that becomes critical later is announced once more. */
  readonly isCritical: boolean;
}

/**
 * Conditions of one area, which are checked at each interval. Their keys are prefixed by the key of the contribution
 * and a colon. Each condition is announced once when it has been true for the configured time, and again at its end.
 */
export interface ConditionSource<Type extends string = string> {
  /** Whether there can be conditions of this source at present. Default: always. */
  isPossible?(): boolean;
  /** The present conditions; one that is missing from now on is forgotten. null while nothing is known of any. */
  observe(thresholds: Thresholds): Promise<readonly Condition<Type>[] | null>;
  /**
   * Emits an event of this type, which the contributing plugin must own. The `describe` of its `notifications.event`
   * returns the event unchanged.
   */
  tell(type: Type, event: ConditionEvent): void;
}

/** The message about the beginning or the end of a condition. */
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
    /** A condition that was announced is over. */
    recovery: ConditionEvent & { readonly recoveredType: string };
  }
  interface Contributions {
    /** How messages are made of one type of event. */
    'notifications.event': NotificationEvent;
    /** Conditions of one area that are watched, such as values that cross a threshold. */
    'notifications.condition': ConditionSource;
    /** A type of destinations of notifications, recognised by the schemes of its URLs. */
    'notifications.destination': NotificationDestination;
  }
}
