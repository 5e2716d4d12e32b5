// A command of the command line: `commands/NAME.ts` in the folder of a plugin, whose default export is a `Command`. It
// runs in a process of its own, where no plugin is set up: what it tells and changes, it asks the running host for.

export interface Command {
  /** What it does, in a few words for the help. */
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  readonly options?: readonly CommandOption[];
  /**
   * Resolves with the exit code. What it throws becomes one line on stderr, and 1. Import what is heavy here, because
   * the help and the completion of words load the module too.
   */
  run(call: CommandCall): Promise<number>;
}

export interface CommandArgument {
  /** `<NAME>` must be given, `[NAME]` may, `[NAME...]` takes all that are left. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** Words that a shell offers here, asked of the running host. */
  offer?(host: HostClient): Promise<readonly string[]>;
}

export interface CommandOption {
  /** For example `-n, --lines <COUNT>`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The least and the largest value of an option that is a whole number. */
  readonly range?: readonly [number, number];
}

/** The value of an option by its long name in camel case: true for a flag, a number where it has a range. */
export type OptionValues = Readonly<Record<string, string | number | true | undefined>>;

export interface CommandCall {
  /** The words that are no options, in their order. */
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly configDir: string;
  /** The host that `--url`, `STACKWARDEN_URL` or the configuration directory names. */
  readonly host: HostClient;
  readonly output: CommandOutput;
  /** An Error about the words that were given, which ends the process with 2. */
  misuse(message: string): Error;
}

/** Requests to the running host; each throws an Error that says what to do. */
export interface HostClient {
  /** The address in use, for example `http://127.0.0.1:8000`. */
  url(): Promise<string>;
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>;
  /** Same as `get`, but undefined where the host has nothing under that path. */
  find(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>;
  post(path: string, body: unknown, options?: RequestDeadline): Promise<unknown>;
  /** Keeps the tokens of a login for this address, or forgets them. They are sent with later requests to it. */
  keepLogin(tokens: LoginTokens | null): Promise<void>;
}

export interface RequestDeadline {
  /** How long an answer is awaited, in milliseconds. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface LoginTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The output of a command. Control characters never pass, whoever wrote the text. */
export interface CommandOutput {
  /** Whether a person looks at it. */
  readonly isTerminal: boolean;
  /** Writes text and ends its last line. */
  line(text: string): void;
  /** The same on stderr, for what is not part of the result. */
  note(text: string): void;
  json(value: unknown): void;
  /** A row for each entry, below a row of titles. A cell of a `Painted` has its colour where a terminal shows it. */
  table(titles: readonly string[], rows: readonly (readonly (string | Painted)[])[]): void;
  /** Begins anew at the top of a terminal; does nothing elsewhere. */
  clear(): void;
  /**
   * Waits until all is written, however slowly it is read: what goes on for long waits before it asks for more. Throws
   * an Error when something could not be written, as to a full disk.
   */
  written(): Promise<void>;
}

export interface Painted {
  readonly text: string;
  readonly colour: 'green' | 'yellow' | 'red' | 'grey';
}
