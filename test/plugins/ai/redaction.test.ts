// Redaction of what the assistant reads: secrets of many kinds are masked in every form in which programs write them,
// in texts and in data; what only resembles a secret stays, and nothing is masked twice.
import { createHash, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { knownSecrets, redactText } from '../../../plugins/ai/redaction/secret-text.ts';
import { redactValue, secretsOf } from '../../../plugins/ai/redaction/secret-value.ts';
import { HARMLESS } from './harmless-texts.ts';

let made = 0;
/** Random characters, which no other secret of this run has. */
function letters(length: number, alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'): string {
  let text = '';
  for (let round = 0; text.length < length; round += 1) {
    made += 1;
    const bytes = createHash('sha256').update(`${made} ${round}`).digest();
    text += [...bytes].map(byte => alphabet[byte % alphabet.length]).join('');
  }
  // So that it has letters as well as digits.
  return alphabet.includes('z') ? `x7${text}`.slice(0, length) : text.slice(0, length);
}
const hex = (length: number) => letters(length, '0123456789abcdef');
const upper = (length: number) => letters(length, 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A secret within the text that contains it. */
interface Planted {
  readonly text: string;
  /** Parts of the secret, none of which may remain. */
  readonly parts: readonly string[];
}

const whole = (text: string): Planted => ({ text, parts: [text] });
/** In each form, § stands for the secret. */
const inForms = (forms: readonly string[], make: () => string) => (): Planted[] =>
  forms.map(form => {
    const secret = make();
    return { text: form.replaceAll('§', secret), parts: [secret] };
  });

const NAMED = [
  '{"§name": "§"}',
  '{"§name":"§","port":8989}',
  "'§name': '§'",
  '§name: §',
  '§name=§',
  'export §name=§',
  '2026-01-02 03:04:05 INFO loaded §name=§ from the environment',
  '- §name: "§"',
  '<§name>§</§name>',
  '--§name=§',
  '--§name §',
  '["--§name", "§"]',
  'GET /a?§name=§&page=2',
  '§name%3D§',
  '%22§name%22%3A%22§%22',
  '{\\"§name\\":\\"§\\"}',
  '§name:\n  §\nport: 1',
  '§name: |\n    §\nnext: 1',
  '"§name":\n    "§",',
];
const named = (name: string, make: () => string) =>
  inForms(
    NAMED.map(form => form.replaceAll('§name', name)),
    make,
  );

function jwt(): string {
  return `eyJ${letters(20)}.eyJ${letters(40)}.${letters(30)}`;
}

const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const keyLines = privateKey.trim().split('\n');

const KINDS: Readonly<Record<string, () => Planted[]>> = {
  'key of a media manager': named('ApiKey', () => hex(32)),
  'key in the environment': named('SONARR__AUTH__API_KEY', () => hex(32)),
  'key of a client': named('api_key', () => letters(24)),
  'token of a media server': named('PLEX_TOKEN', () => letters(20)),
  'account token': named('PlexOnlineToken', () => letters(20)),
  password: named('password', () => letters(12)),
  'password of a database': named('PGPASSWORD', () => letters(12)),
  passphrase: named('passphrase', () => letters(16)),
  'client secret': named('client_secret', () => letters(24)),
  'refresh token': named('refresh_token', () => letters(30)),
  'access token': named('accessToken', () => letters(30)),
  'secret key': named('SECRET_KEY', () => letters(32)),
  'encryption key': named('encryption_key', () => letters(32)),
  'debrid key': named('debrid_api_key', () => letters(24)),
  'tunnel token': named('TUNNEL_TOKEN', () => `eyJ${letters(60)}`),
  'secret of signatures': named('jwtSecret', () => letters(32)),
  'key of storage': named('aws_secret_access_key', () => letters(40)),
  'rc password': named('rc-pass', () => letters(12)),
  claim: inForms(['plex_claim: §', 'PLEX_CLAIM=§', 'claimed with §', '{"claim": "§"}'], () => `claim-${letters(20)}`),
  jwt: inForms(['got §', 'x=§;', 'token § expired', '{"a":"§"}', 'GET /x?t=§', '§'], jwt),
  'key of a code host': inForms(
    ['§', 'clone with §', 'https://§@github.com/a/b', '{"t":"§"}'],
    () => `ghp_${letters(36)}`,
  ),
  'fine grained key of a code host': inForms(['§', 'using §.', '"§"'], () => `github_pat_${letters(60)}`),
  'key of a model service': inForms(['§', 'failed with key §', 'key=§', '{"k":"§"}'], () => `sk-proj-${letters(40)}`),
  'key of another model service': inForms(['§', 'x-goog-api-key: §', '?key=§'], () => `AIza${letters(35)}`),
  'key of a cloud': inForms(['§', 'id §', 'id: §,'], () => `AKIA${upper(16)}`),
  'key of a chat': inForms(['§', 'bot §', '{"bot":"§"}'], () => `xoxb-${letters(30)}`),
  'bot of a messenger': inForms(
    ['bot §', 'https://api.telegram.org/bot§/send', '§'],
    () => `123456789:AA${letters(33)}`,
  ),
  'address of a chat': inForms(['posting to §', '{"url": "§"}', 'url: §'], () => letters(40)),
  'token of a package registry': inForms(['§', '//registry/:_authToken=§', 'npm §'], () => `npm_${letters(36)}`),
  'token of a model store': inForms(['§', 'HF §', '"§"'], () => `hf_${letters(34)}`),
  'key of a mail service': inForms(['§', 'key §', '"§"'], () => `SG.${letters(22)}.${letters(43)}`),
  'key of a payment service': inForms(['§', 'key §', '"§"'], () => `sk_live_${letters(24)}`),
  'access of a cloud account': inForms(['§', 'using §', '"§"'], () => `ya29.${letters(40)}`),
  'password of a news server': named('ProviderPassword', () => letters(14)),
  'key of a VPN': inForms(['PrivateKey = §=', 'private_key: §=', 'tskey-auth-§'], () => letters(43)),
  'hash of a password': inForms(
    ['bob:$2b$12$§', '$argon2id$v=19$m=65536,t=3,p=4$§', 'bob:$apr1$abcdefgh$§', '$6$salt$§', '{SSHA}§'],
    () => letters(44),
  ),
  header: inForms(
    [
      'Authorization: Bearer §',
      'authorization: Basic §',
      'Authorization: MediaBrowser Token="§"',
      'Proxy-Authorization: §',
      'Cookie: sid=§; a=b',
      'Set-Cookie: sid=§; Path=/',
      'X-Api-Key: §',
      'X-Plex-Token: §',
      'X-Auth-Token: §',
      'x-goog-api-key: §',
      '> X-Emby-Token: §',
      "curl -H 'X-Api-Key: §' http://localhost",
      'Cookie: a=b;\n  sid=§\nAccept: x',
      'Authorization: Digest username="bob",\n  response="§"\nAccept: x',
      'headers={Authorization: Bearer §}',
      'auth=Bearer%20§',
    ],
    () => letters(28),
  ),
  'credentials in a URL': inForms(
    [
      'postgresql://u:§@localhost:5432/db',
      'postgres://bob:§@db/app?sslmode=off',
      'redis://:§@redis:6379/0',
      'amqp://user:§@mq/vhost',
      'mysql://root:§@127.0.0.1/x',
      'mongodb+srv://a:§@cluster/x',
      'http://user:§@localhost:8080/dav',
      'smtp://mail%40a:§@smtp',
      'socks5://a:§@203.0.113.1:1080',
      'ftp://anonymous:§@host',
      'https://§@sentry.invalid/42',
      'postgresql%3A%2F%2Fu%3A§%40localhost%2Fdb',
      'DATABASE_URL=postgres://u:§@localhost/db',
      'Host=db;Username=u;Password=§;Database=x',
      'Server=db;User Id=u;Pwd=§;',
    ],
    () => letters(18),
  ),
  'parameter of an address': inForms(
    [
      'api_key',
      'apikey',
      'key',
      'auth_token',
      'access_token',
      'X-Plex-Token',
      'token',
      'code',
      'sig',
      'signature',
      'auth',
    ].map(name => `GET /a?b=1&${name}=§&c=2 200`),
    () => letters(20),
  ),
  'address of mail': inForms(
    ['from §', '<§>', 'user=§', '{"email":"§"}', 'login § failed', 'mailto:§'],
    () => `${letters(8)}@mail.example.org`,
  ),
  'encoded address of mail': inForms(['?user=§', 'login=§&x=1'], () => `${letters(8)}%40mail.example.org`),
  'credentials in base64': () =>
    ['§', 'auth: §', '"auth": "§"', 'Basic §', '_auth=§', 'sent §'].map(form => {
      const secret = base64(`user${letters(4)}:${letters(12)}`);
      return { text: form.replaceAll('§', secret), parts: [secret] };
    }),
  'private key': () =>
    [
      privateKey,
      privateKey.replaceAll('\n', '\\n'),
      `key: |\n  ${keyLines.join('\n  ')}`,
      keyLines.slice(0, 3).join('\n'),
      keyLines.slice(1).join('\n'),
      keyLines.map(line => `2026-01-02 03:04:05 INFO ${line}`).join('\n'),
      privateKey.replaceAll('PRIVATE KEY', 'OPENSSH PRIVATE KEY'),
      privateKey.replaceAll('PRIVATE KEY', 'RSA PRIVATE KEY'),
      privateKey.replaceAll('PRIVATE KEY', 'CERTIFICATE'),
      privateKey.replaceAll('PRIVATE KEY', 'PGP MESSAGE'),
    ].map(text => ({ text, parts: keyLines.slice(1, 3) })),
  'identity of a server': inForms(
    ['machineIdentifier="§"', '--serverUuid=§', 'GET /devices/§/x', '/api/servers/§', 'X-Plex-Client-Identifier: §'],
    () => hex(40),
  ),
  'account of a person': inForms(['WebDAV credentials: user / §', 'Account name: §', 'account_name=§'], () =>
    letters(12),
  ),
  'secret in a sentence': inForms(
    ['the api key is §', 'with API key § at localhost', 'token §', 'password was §,'],
    () => letters(24),
  ),
  'token over lines': () =>
    [1, 2, 3, 4].map(() => {
      const [one, two] = [`eyJ${letters(40)}`, letters(40)];
      return { text: `token: ${one}\n   ${two}\n`, parts: [one, two] };
    }),
};

const planted = Object.entries(KINDS).flatMap(([kind, make]) => {
  const secrets = make();
  if (kind === 'address of a chat')
    return secrets.map(({ parts: [secret = ''] }) => ({
      kind,
      ...whole(`https://discord.com/api/webhooks/123/${secret}`),
      parts: [secret],
    }));
  return secrets.map(secret => ({ kind, ...secret }));
});

t.test('secrets in texts are masked', async t => {
  t.ok(Object.keys(KINDS).length >= 40, `${Object.keys(KINDS).length} kinds`);
  t.ok(planted.length >= 500, `${planted.length} secrets`);
  for (const { kind, text, parts } of planted) {
    const shown = redactText(text);
    const left = parts.filter(part => shown.includes(part));
    t.same(left, [], `${kind}: ${text}`);
    t.equal(redactText(shown), shown, `${kind}: ${text}, twice`);
  }
});

t.test('secrets in data are masked', async t => {
  for (const { kind, text, parts } of planted) {
    const data = { message: text, list: [{ deep: { text } }], json: JSON.stringify({ log: text }), [text]: 1 };
    const shown = JSON.stringify(redactValue(data));
    const left = parts.filter(part => shown.includes(part));
    t.same(left, [], `${kind}: ${text}`);
  }
});

t.test('harmless texts stay as they are', async t => {
  t.ok(new Set(HARMLESS).size >= 300, `${new Set(HARMLESS).size} texts`);
  for (const text of HARMLESS) t.equal(redactText(text), text, text);
  t.same(redactValue([...HARMLESS]), HARMLESS);
});

t.test('members of data are masked by their names', async t => {
  const secret = letters(16);
  const shown = redactValue({
    api_key: secret,
    ApiKey: secret,
    'client-secret': { nested: secret },
    password: 12_345_678,
    tokens: [secret, secret],
    rd_key: secret,
    dsn: secret,
    salt: secret,
    PrivateKey: secret,
    connectionString: secret,
    webhook: secret,
    env: [
      { name: 'API_KEY', value: secret },
      { name: 'PORT', value: '80' },
    ],
    args: ['run', '--token', secret, '-p', secret, `--api-key=${secret}`, '--port', '80'],
    inside: JSON.stringify({ password: secret, port: 80 }),
    max_tokens: 4_096,
    prompt_tokens: '12',
    config_key: 'a-service-of-a-kind',
    empty: { password: '', token: null },
    api_key_configured: true,
  });
  t.notMatch(JSON.stringify(shown), secret);
  t.match(shown, {
    password: '[REDACTED]',
    'client-secret': '[REDACTED]',
    env: [{ value: '[REDACTED]' }, { value: '80' }],
    args: ['run', '--token', '[REDACTED]', '-p', '[REDACTED]', '--api-key=[REDACTED]', '--port', '80'],
    inside: '{"password":"[REDACTED]","port":80}',
    max_tokens: 4_096,
    prompt_tokens: '12',
    config_key: 'a-service-of-a-kind',
    empty: { password: '', token: null },
    api_key_configured: true,
  });
  t.same(redactValue(shown), shown, 'twice');
  const paths = redactValue({ db_path: '/srv/a.db', storage: { mount_point: '/srv' }, url: 'x' }, { hidePaths: true });
  t.same(paths, { db_path: '[PATH REDACTED]', storage: { mount_point: '[PATH REDACTED]' }, url: 'x' });
});

t.test('secrets of the configuration are masked in every encoding', async t => {
  const password = `${letters(10)} "/&`;
  const known = knownSecrets(
    secretsOf({ a: { password, port: 'eight thousand' }, b: { name: 'token', value: letters(9) } }),
  );
  const forms = [password, JSON.stringify(password), encodeURIComponent(password), base64(password)];
  for (const form of forms) t.notMatch(redactText(`found ${form} here`, known), password.slice(0, 10), form);
  for (const form of forms) t.match(redactText(`found ${form} here`, known), 'found ', form);
  t.equal(redactText('eight thousand', known), 'eight thousand');
});

t.test('redaction of redacted text changes nothing', async () => {
  const pieces = fc.constantFrom(...planted.map(({ text }) => text), ...HARMLESS);
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', ' ', ', '), (texts, joint) => {
      const once = redactText(texts.join(joint));
      return redactText(once) === once;
    }),
    { numRuns: 200, seed: 7 },
  );
});

t.test('any value is taken, and none is changed', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const before = JSON.stringify(value);
      redactValue(value);
      return JSON.stringify(value) === before;
    }),
    { numRuns: 100 },
  );
});

t.test('secrets are found behind escapes, colours and other letters', async t => {
  const secret = 'hunter2x9QzT';
  const codes = (text: string, code: (letter: number) => string) =>
    [...text].map(letter => code(letter.charCodeAt(0))).join('');
  const wide = (text: string) => codes(text, letter => String.fromCharCode(letter + 0xfee0));
  const byUnicode = (text: string) => codes(text, letter => `\\u${letter.toString(16).padStart(4, '0')}`);
  const nested = (depth: number): string =>
    depth === 0 ? JSON.stringify({ password: secret }) : JSON.stringify({ next: nested(depth - 1) });
  const texts = [
    `2026-01-01 INFO config {"\\u0070ass\\u0077ord": "${secret}", "a": 1}`,
    `x {"${byUnicode('apiKey')}": "${secret}"}`,
    `x {\\"\\\\u0070assword\\": \\"${secret}\\"}`,
    `password="${byUnicode(secret)}"`,
    `\\x70assword=${secret}`,
    `GET /a?%70assword=${secret}&b=1`,
    `x %70assword%3D${secret}`,
    `GET /?api%5Fkey=${secret}&page=2`,
    `env ${base64(`password=${secret}`)}`,
    `blob=${base64(`api_key: ${secret}\nport: 1\n`)}`,
    `blob=${base64(`postgres://user:${secret}@db/x`)}`,
    `x ${Buffer.from(`password=${secret}??>>`).toString('base64url')}`,
    `env ${base64(base64(`password=${secret}`))}`,
    `blob ${Buffer.from(`password=${secret}`).toString('hex')}`,
    `password:\n${secret}\n`,
    `password=\\\n${secret}`,
    `pass\\\nword=${secret}`,
    `password=hunter2\\\nx9QzT`,
    `received ${nested(2)}`,
    `received ${nested(4)}`,
    `pass\x1b[31mword=${secret}`,
    `\x1b[36mpassword\x1b[0m: \x1b[33m${secret}\x1b[0m`,
    `password=hunter2\x1b[31mx9QzT`,
    `password^[[0m=${secret}`,
    `"\\u001b[36mpassword\\u001b[0m=\\u001b[33m${secret}"`,
    `${wide('password')}=${secret}`,
    wide(`password=${secret}`),
    `password＝${secret}`,
    `password：${secret}`,
    `pass\u200bword=${secret}`,
    `pass\u00adword=${secret}`,
    `password\u00a0=\u00a0${secret}`,
    `&#112;assword=${secret}`,
    `password&#61;${secret}`,
    `{&quot;password&quot;:&quot;${secret}&quot;}`,
    [...`password=${secret}`].join('\0'),
    `('password', '${secret}')`,
    `"password","${secret}"`,
    `password            ${secret}`,
    `| password | ${secret} |`,
    `password -> ${secret}`,
    `curl -u admin:${secret} http://127.0.0.1`,
  ];
  /** The text as a person reads it. */
  const read = (text: string): string => text.normalize('NFKC').replaceAll(/\x1b\[\d+m|[\0\u200b\u00ad\n\\]/g, '');
  const decoded = (text: string): string =>
    [...text.matchAll(/[\w+/-]{12,}={0,2}/g)]
      .flatMap(([word]) => [
        Buffer.from(word, 'base64').toString('latin1'),
        Buffer.from(word, 'hex').toString('latin1'),
      ])
      .join('\n');
  for (const text of texts) {
    for (const clean of [redactText(text), JSON.stringify(redactValue({ line: text }))]) {
      t.notMatch(read(clean), /hunter2|x9QzT/, text);
      t.notMatch(decoded(clean) + decoded(decoded(clean)), 'hunter2', text);
      t.notMatch(clean, byUnicode('hunter'), text);
    }
    const once = redactText(text);
    t.equal(redactText(once), once, 'what is masked stays');
  }
  for (const harmless of [
    'GET /films/Am%C3%A9lie%20%282001%29?page=2&sort=title%3Aasc 200',
    'C:\\new\\u0041rchive\\x20 — Größe 12 %, naïve “quotes”, ％ ①',
    `sha1 ${hex(40)} ${base64('only harmless words in here')}`,
    '\x1b[32mINFO\x1b[0m token refresh done in 12 ms &amp; stored',
    'columns: name, password, created_at',
    '| password | required |',
  ])
    t.equal(redactText(harmless), harmless);
});

t.test('long lines, and lines that continue in the next one, are masked', t => {
  const long = 'aé'.repeat(5_000_000);
  t.equal(redactText(long) === long, true, 'ten million characters');
  const goesOn = (backslashes: string, end: string) =>
    redactText(`${backslashes}${end}\\x70assword=hunter2\nnext line`);
  for (const end of ['\n', '\r\n']) {
    for (const backslashes of ['', '\\', '\\\\', '\\\\\\']) t.notMatch(goesOn(backslashes, end), 'hunter2');
    t.match(goesOn('\\\\', end), `\\\\${end}password=`, 'a backslash that is escaped takes no line end back');
  }
  t.end();
});
