// Formats of plain lines, with files as programs write them.
import fc from 'fast-check';
import t from 'tap';
import { formatsOf } from '../../../plugins/format-conf/formats.ts';
import { holdFormat } from '../../contracts/config-format.ts';
import { templatesOf } from '../../support/templates.ts';

const formats = formatsOf((await templatesOf()).list());

const named = (name: string) => {
  const format = formats.find(candidate => candidate.name === name);
  if (format === undefined) throw new Error(`there is no format ${name}`);
  return format;
};

const POSTGRESQL = `# - Connection Settings -

listen_addresses = 'localhost'		# what IP address(es) to listen on;
					# comma-separated list of addresses;
port = 5432
max_connections 100
#shared_buffers = 128MB
shared_buffers = '256MB'
log_line_prefix = '%m [%p] it''s '
port = 5433  # wins
include_dir = 'conf.d'
`;

holdFormat(t, named('postgresql'), {
  cases: [
    {
      name: 'quotes and an inline comment',
      text: POSTGRESQL,
      updates: { listen_addresses: '*' },
      becomes: ["'localhost'", "'*'"],
    },
    { name: 'the last active line', text: POSTGRESQL, updates: { port: '5434' }, becomes: ['5433', '5434'] },
    {
      name: 'a separator of spaces',
      text: POSTGRESQL,
      updates: { max_connections: 200 },
      becomes: ['max_connections 100', 'max_connections 200'],
    },
    {
      name: 'quoted stays quoted',
      text: POSTGRESQL,
      updates: { shared_buffers: '1GB' },
      becomes: ["'256MB'", "'1GB'"],
    },
    {
      name: 'quotes inside',
      text: POSTGRESQL,
      updates: { log_line_prefix: "'%t '" },
      becomes: ["'%m [%p] it''s '", "'%t '"],
    },
    {
      name: 'backslashes, which escape what follows',
      text: "a = 'C:\\\\x'  # two\nb = 'it\\'s \\101'\nc = 'one\\ntwo'\nd = '''q'''\n",
      updates: { a: 'C:\\new\\', b: "it's A", c: 'one\ntwo', d: "'q'" },
      becomes: ["'C:\\\\x'", "'C:\\\\new\\\\'"],
    },
    { name: 'booleans', text: 'fsync = on\n', updates: { fsync: false }, becomes: ['on', 'off'] },
    {
      name: 'a value that needs quotes',
      text: 'a = 1\r\nb = 2\r\n',
      updates: { b: 'two words' },
      becomes: ['2', "'two words'"],
    },
    {
      name: 'a new setting after a last line without its end',
      text: 'a = 1',
      updates: { work_mem: '4MB' },
      becomes: 'a = 1\nwork_mem = 4MB\n',
    },
    {
      name: 'replace removes',
      text: 'a = 1\n# note\nb = 2\n',
      updates: { b: '2' },
      mode: 'replace',
      becomes: '# note\nb = 2\n',
    },
  ],
  refused: [
    { name: 'no setting', text: 'a = 1\nnonsense here and there\n', status: 422, message: /Line 2/ },
    { name: 'a bad name', text: 'a = 1\n', updates: { 'b c': '1' }, status: 400, message: /name of a setting/ },
    { name: 'a line break', text: 'a = 1\n', updates: { a: '1\n2' }, status: 400, message: /one line/ },
    { name: 'a list', text: 'a = 1\n', updates: { a: [1] }, status: 400, message: /must be a text/ },
  ],
});

const RCLONE = `[Remote One]
type = webdav
url = http://localhost:8080/dav?x=%20$HOME
pass = abc=def==

; kept
[second]
type=s3
`;

holdFormat(t, named('rclone'), {
  cases: [
    {
      name: 'signs inside a value',
      text: RCLONE,
      updates: { 'Remote One': { url: 'http://other/%41' } },
      becomes: ['http://localhost:8080/dav?x=%20$HOME', 'http://other/%41'],
    },
    {
      name: 'a value that holds =',
      text: RCLONE,
      updates: { 'Remote One': { pass: 'x==' } },
      becomes: ['abc=def==', 'x=='],
    },
    {
      name: 'no spaces around =',
      text: RCLONE,
      updates: { second: { type: 'local' } },
      becomes: ['type=s3', 'type=local'],
    },
    { name: 'a new key', text: RCLONE, updates: { second: { region: 'eu' } }, becomes: `${RCLONE}region = eu\n` },
    { name: 'a new section', text: '[a]\nx = 1', updates: { b: { y: '2' } }, becomes: '[a]\nx = 1\n\n[b]\ny = 2\n' },
  ],
  refused: [
    {
      name: 'encrypted',
      text: '# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\nabc=\n',
      status: 400,
      message: /encrypted/,
    },
    { name: 'no key', text: '[a]\nwhat is this\n', status: 422, message: /Line 2/ },
  ],
});

const INI = `top = 1\r
; a comment\r
[General]\r
Name = one ; not a comment\r
Path=C:\\Users\\x\r
Empty =\r
\r
[Other]\r
Name: two\r
Name: three\r
# last`;

/** Nested sections, a name without a value, and a value of several lines. */
const WIDE_INI = `loose words
[misc]
host = 127.0.0.1
paths = /one
    /two
skip-networking
[servers]
[[news.example.com:563]]
host = news.example.com
connections = 8
[[other]] ; spare
[[[deep]]]
host = deep.example.com
[categories]
name = all
`;

/** Values whose further lines look like lines with keys, and a section whose lines are indented evenly. */
const KEYS_IN_VALUES = `[program:x]
environment =
    A="1",
    ; why
    B="2"
urls = http://a
    http://b
[even]
  x = 1
  y = 2
`;

holdFormat(t, named('ini'), {
  cases: [
    {
      name: 'lines that are indented evenly have keys',
      text: KEYS_IN_VALUES,
      updates: { even: { x: '3' } },
      becomes: ['x = 1', 'x = 3'],
    },
    {
      name: 'replace takes a whole value, or none of it',
      text: KEYS_IN_VALUES,
      updates: { 'program:x': { environment: '' }, even: { y: '2' } },
      mode: 'replace',
      becomes: KEYS_IN_VALUES.replace('urls = http://a\n    http://b\n', '').replace('  x = 1\n', ''),
    },
    {
      name: 'what stands in nested sections is not that of the section around',
      text: WIDE_INI,
      updates: { misc: { host: '0.0.0.0' } },
      becomes: ['127.0.0.1', '0.0.0.0'],
    },
    {
      name: 'a new key stands before the nested sections',
      text: WIDE_INI,
      updates: { servers: { host: 'x' } },
      becomes: ['[servers]\n', '[servers]\nhost = x\n'],
    },
    {
      name: 'a new key does not part a value of several lines, nor a name alone',
      text: '[a]\nx = 1\n  2\nalone\n\n[b]\n',
      updates: { a: { y: '3' } },
      becomes: ['alone\n', 'alone\ny = 3\n'],
    },
    {
      name: 'replace keeps what is carried in the sections that stay',
      text: WIDE_INI,
      updates: { misc: { host: 'x' }, servers: {} },
      mode: 'replace',
      becomes: WIDE_INI.replace('127.0.0.1', 'x')
        .replace('paths = /one\n    /two\n', '')
        .replace('[categories]\nname = all\n', ''),
    },
    {
      name: 'replace takes what is carried along with its section',
      text: WIDE_INI,
      updates: { categories: { name: 'all' } },
      mode: 'replace',
      becomes: 'loose words\n[categories]\nname = all\n',
    },
    {
      name: 'the last line of a key that stands twice',
      text: '[a]\nx = 1\n  2\nx = 3\n',
      updates: { a: { x: '4' } },
      becomes: ['3', '4'],
    },
    { name: 'before any section', text: INI, updates: { '': { top: '2' } }, becomes: ['top = 1', 'top = 2'] },
    {
      name: 'a semicolon in a value',
      text: INI,
      updates: { General: { Name: 'x ; y' } },
      becomes: ['one ; not a comment', 'x ; y'],
    },
    { name: 'backslashes', text: INI, updates: { General: { Path: 'D:\\y' } }, becomes: ['C:\\Users\\x', 'D:\\y'] },
    {
      name: 'an empty value',
      text: INI,
      updates: { General: { Empty: 'full' } },
      becomes: ['Empty =\r\n', 'Empty =full\r\n'],
    },
    { name: 'the last of several', text: INI, updates: { Other: { Name: 'four' } }, becomes: ['three', 'four'] },
    { name: 'a number', text: '[a]\nx = 1\n', updates: { a: { x: 2 } }, becomes: ['1', '2'] },
    {
      name: 'a byte order mark',
      text: '\uFEFFa = 1\nb = 2\n',
      updates: { '': { a: '3', b: '4' } },
      becomes: '\uFEFFa = 3\nb = 4\n',
    },
    {
      name: 'replace removes',
      text: '[a]\nx = 1\ny = 2\n[b]\nz = 3\n',
      updates: { a: { y: '2' } },
      mode: 'replace',
      becomes: '[a]\ny = 2\n',
    },
  ],
  refused: [
    { name: 'no end of a header', text: 'a = 1\n[b\n', status: 422, message: /Line 2/ },
    {
      name: 'a value that goes on in the next line',
      text: WIDE_INI,
      updates: { misc: { paths: '/three' } },
      status: 400,
      message: /misc\.paths goes on/,
    },
    {
      name: 'a value that goes on with the sign of equality',
      text: KEYS_IN_VALUES,
      updates: { 'program:x': { environment: 'C="3"' } },
      status: 400,
      message: /program:x\.environment goes on/,
    },
    {
      name: 'a value that goes on with a colon',
      text: KEYS_IN_VALUES,
      updates: { 'program:x': { urls: 'http://c' } },
      status: 400,
      message: /program:x\.urls goes on/,
    },
    {
      name: 'a name without a value',
      text: WIDE_INI,
      updates: { misc: { 'skip-networking': 'no' } },
      status: 400,
      message: /without a value/,
    },
    {
      name: 'a line break in a value',
      text: '[a]\nx = 1\n',
      updates: { a: { x: '1\n[b]' } },
      status: 400,
      message: /one line/,
    },
    {
      name: 'a section that closes itself',
      text: '[a]\nx = 1\n',
      updates: { 'b]\n[c': { x: '1' } },
      status: 400,
      message: /name of a section/,
    },
    { name: 'no section', text: '[a]\nx = 1\n', updates: { a: 'x' }, status: 400, message: /must be an object/ },
  ],
});

t.test('an INI file shows its sections without inherited values', async t => {
  const shown = JSON.stringify(await named('ini').parse(WIDE_INI));
  const misc = { host: '127.0.0.1', paths: '/one' };
  t.equal(shown, JSON.stringify({ misc, servers: {}, categories: { name: 'all' } }));
});

t.test('the rest of a value in an INI file has no keys', async t => {
  const shown = JSON.stringify(await named('ini').parse(KEYS_IN_VALUES));
  t.equal(shown, JSON.stringify({ 'program:x': { environment: '', urls: 'http://a' }, even: { x: '1', y: '2' } }));
});

t.test('the laws hold for generated INI files', async t => {
  const format = named('ini');
  const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.]{0,8}$/);
  const value = fc.stringMatching(/^([!-~]([ -~]{0,10}[!-~])?)?$/);
  const file = fc.dictionary(word, fc.dictionary(word, value, { minKeys: 1, maxKeys: 4 }), { minKeys: 1, maxKeys: 4 });
  const check = fc.asyncProperty(
    file,
    value,
    fc.nat(),
    fc.constantFrom('\n', '\r\n'),
    async (object, text, index, ending) => {
      const lines = Object.entries(object).flatMap(([section, members]) => [
        `[${section}]`,
        '; why',
        ...Object.entries(members).map(([key, member]) => `${key} = ${member}`),
      ]);
      const sections = Object.keys(object);
      const section = sections[index % sections.length] ?? '';
      const key = Object.keys(object[section] ?? {})[0] ?? '';
      const source = lines.join(ending);
      const edited = await format.edit(source, { [section]: { [key]: text } }, 'merge');
      const before = (await format.parse(source)) as Record<string, Record<string, string>>;
      const after = (await format.parse(edited.text)) as Record<string, Record<string, string>>;
      const others = (parsed: typeof before) =>
        JSON.stringify({ ...parsed, [section]: { ...parsed[section], [key]: '' } });
      return after[section]?.[key] === text && others(before) === others(after);
    },
  );
  await t.resolves(fc.assert(check));
});
