// Masks secrets that options of some programs take, where the same options give others a port, a path or nothing.
import { MASK } from './redaction-words.ts';

/** The user name and password that curl is given; to other programs the same options give a user and a group. */
const CURL_USER =
  /((?<![\w-])(?:-[A-Za-z]{0,8}?u|-U|--(?:proxy-)?user)(?:\\{0,8}["'],)?[ \t]{0,8}=?[ \t]{0,8}(?!\\{0,8}["']?\d+:\d+(?!\w)))(?:(\\{0,8}["'])[^\s"'\\:]{1,256}:(?:(?!\2)(?:\\.|[^\\\r\n]))+(?:\2)?|[^\s"'\\:]{1,256}:[^\s"']+)/g;
/** The cookies that curl is given; without a sign of equality it is the name of a file. */
const CURL_COOKIE =
  /((?<![\w-])(?:-b|--cookie)(?:\\{0,8}["'],)?[ \t]{0,8}=?[ \t]{0,8})(?:(\\{0,8}["'])[^\s"'\\=]{1,256}=(?:(?!\2)(?:\\.|[^\\\r\n]))+(?:\2)?|[^\s"'\\=]{1,256}=[^\s"']+)/g;
/** Options that give some programs a password, and others a port, a path or nothing. */
const SHORT_OPTION =
  /((?<![\w-])-([aPp])((?:\\{0,8}["'],)?[ \t]{0,8}))(?!\[REDACTED\])(?:(\\{0,8}["'])(?!,)(?:(?!\4)(?:\\.|[^\\\r\n]))+(?:\4)?|[^\s"'\\]+)/g;
/** For each of these options, the programs that take a password behind it, with a blank between or without one. */
const PASSWORD_TAKERS: Readonly<Record<string, { readonly apart: RegExp; readonly joined: RegExp }>> = {
  a: { apart: /\b(?:redis|valkey)-cli\b/, joined: /(?!)/ },
  P: { apart: /\b(?:(?:un)?zip|mosquitto_(?:pub|sub))\b/, joined: /\b(?:un)?zip\b/ },
  p: {
    apart: /\bsshpass(?:[\s"',\\]{1,8}-v)?[\s"',\\]{1,8}$|\b(?:docker|podman)[\s"',\\]{1,8}login\b/,
    joined: /\bsshpass[\s"',\\]{1,8}$|\b(?:(?:mysql|mariadb)[a-z-]{0,16}|7z[ar]?|unrar)["']?[ \t,]/,
  },
};
/** How many characters before an option the name of its program is looked for. */
const COMMAND_LINE = 512;

/** Programs by whose names a line may have such an option; `curl` has words of its own. */
export const OPTION_TAKERS = [
  ...['sshpass', 'mysql', 'mariadb', 'redis-cli', 'valkey-cli', 'mosquitto_', 'docker', 'podman'],
  // Not `rar`, which stands in every `library`.
  ...['zip', 'unrar', '7z ', '7za', '7zr'],
];

export function redactCurl(text: string): string {
  return [CURL_USER, CURL_COOKIE].reduce(
    (masked, pattern) =>
      masked.replace(pattern, (whole: string, option: string, _quote: unknown, at: number) =>
        /curl/i.test(masked.slice(Math.max(0, at - COMMAND_LINE), at)) ? option + MASK : whole,
      ),
    text,
  );
}

export function redactShortOptions(text: string): string {
  return text.replace(
    SHORT_OPTION,
    (whole: string, option: string, letter: string, between: string, _quote: unknown, at: number) => {
      const takers = PASSWORD_TAKERS[letter];
      const program = between === '' ? takers?.joined : takers?.apart;
      return program?.test(commandBefore(text, at)) ? option + MASK : whole;
    },
  );
}

/** What stands before an option, from the beginning of its command on. */
function commandBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - COMMAND_LINE), at);
  return before.slice(1 + Math.max(...['\n', '|', ';', '&'].map(sign => before.lastIndexOf(sign))));
}
