// A command of the command line: `commands/NAME.ts` in the folder of a plugin, whose default export is a `Command`. A
// command runs in a process of its own, where no plugin is set up: it reads and changes everything through requests to
// the running host.

export interface Command {
  /** What the command does, in a few words for the help. */
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  readonly options?: readonly CommandOption[];
  /**
   * Resolves with the exit code. A thrown error becomes one line on stderr and the exit code 1. Import large modules
   * inside this function, because the help and the completion of words load the command's module too.
   */
  run(call: CommandCall): Promise<number>;
}

export interface CommandArgument {
  /** `<NAME>` is required, `[NAME]` is optional, `[NAME...]` takes all remaining words. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** Completions that a shell offers for this argument, from the running host. */
  offer?(host: HostClient): Promise<readonly string[]>;
}

export interface CommandOption {
  /** For example `-n, --lines <COUNT>`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** The smallest and the largest value; set for an option that is a whole number. */
  readonly range?: readonly [number, number];
}

/** The values of the options by their long names in camel case: true for a flag, a number where there is a range. */
export type OptionValues = Readonly<Record<string, string | number | true | undefined>>;

export interface CommandCall {
  /** The words that are not options, in their order. */
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly configDir: string;
  /** The host that `--url`, `STACKWARDEN_URL` or the configuration directory names. */
  readonly host: HostClient;
  readonly output: CommandOutput;
  /** Makes an Error about the words of the call; thrown, it ends the process with exit code 2. */
  misuse(message: string): Error;
}

/** Requests to the running host; each throws an Error that says what to do. */
export interface HostClient {
  /** The address in use, for example `http://127.0.0.1:8000`. */
  url(): Promise<string>;
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>;
  /** Same as `get`, but undefined when the host has no route for the path. */
  find(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<unknown>;
  post(path: string, body: unknown, options?: RequestDeadline): Promise<unknown>;
  /** Saves the tokens of a login, which are sent with later requests to this address; null forgets them. */
  keepLogin(tokens: LoginTokens | null): Promise<void>;
}

export interface RequestDeadline {
  /** How long the command waits for the answer. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface LoginTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The output of a command. It removes control characters from every text. */
export interface CommandOutput {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Writes the text and a line break. */
  line(text: string): void;
  /** Same as `line`, but on stderr, for what is not part of the result. */
  note(text: string): void;
  json(value: unknown): void;
  /**
   * Writes a line of titles, then one line for each row. A `Painted` cell has its colour on a terminal with colours.
   */
  table(titles: readonly string[], rows: readonly (readonly (string | Painted)[])[]): void;
  /** Clears the terminal; does nothing when the output is not a terminal. */
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
