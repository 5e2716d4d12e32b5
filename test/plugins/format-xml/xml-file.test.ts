// XML files as programs write them.
import fc from 'fast-check';
import t from 'tap';
import { xmlFormat } from '../../../plugins/format-xml/xml-file.ts';
import { holdFormat } from '../../contracts/config-format.ts';

const ARR = `<Config>
  <BindAddress>*</BindAddress>
  <Port>8989</Port>
  <UrlBase></UrlBase>
  <ApiKey>0012ab</ApiKey>
  <Branch/>
</Config>`;

const PLEX = `<?xml version="1.0" encoding="utf-8"?>
<Preferences OldestPreviousVersion="1.2" FriendlyName='My &quot;server&quot;' Empty="" />
`;

const NETWORK = `\uFEFF<?xml version="1.0"?>\r
<!-- kept -->\r
<NetworkConfiguration xmlns:xsi="http://example.org/x">\r
  <BaseUrl />\r
  <EnableHttps>false</EnableHttps>\r
  <KnownProxies>\r
    <string>one</string>\r
    <string>two &amp; three</string>\r
  </KnownProxies>\r
  <Nested><Deep a="1">text</Deep></Nested>\r
</NetworkConfiguration>\r
`;

holdFormat(t, xmlFormat, {
  cases: [
    {
      name: 'line ends of the file within texts, which are line feeds to its readers',
      text: '<a>\r\n  <b>one\r\ntwo</b>\r\n  <c><![CDATA[x\ry]]></c>\r\n  <d>1</d>\r\n</a>\r\n',
      updates: { a: { b: 'one\ntwo', c: 'x\ny', d: '2' } },
      becomes: ['<d>1', '<d>2'],
    },
    {
      name: 'prefixes that are declared around them, also by the update',
      text: '<a xmlns:d="urn:d"><x:e>1</x:e></a>',
      updates: { a: { '@xmlns:f': 'urn:f', 'x:e': '2', 'd:g': '3', 'f:h': '4', '@xml:lang': 'en' } },
      becomes: '<a xmlns:f="urn:f" xml:lang="en" xmlns:d="urn:d"><x:e>2</x:e><d:g>3</d:g><f:h>4</f:h></a>',
    },
    {
      name: 'a prefix that an element before declares once more',
      text: '<a xmlns:x="urn:1"><b xmlns:x="urn:2"/><c><x:d>1</x:d></c></a>',
      updates: { a: { c: { 'x:e': '2' } } },
      becomes: ['</x:d>', '</x:d><x:e>2</x:e>'],
    },
    {
      name: 'in another encoding, whose characters need no bytes of their own',
      text: '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a><b>1</b></a>',
      updates: { a: { b: 'é', c: { '@d': '\u{1f600}', e: 'é' } } },
      becomes: ['<b>1</b>', '<b>&#233;</b><c d="&#128512;"><e>&#233;</e></c>'],
    },
    {
      name: 'in UTF-8, as the file says',
      text: "<?xml version='1.0' encoding='UTF-8'?><a>1</a>",
      updates: { a: 'é' },
      becomes: ['>1<', '>é<'],
    },
    { name: 'a leaf', text: ARR, updates: { Config: { Port: '9000' } }, becomes: ['8989', '9000'] },
    { name: 'inside the root', text: ARR, updates: { Port: 9000 }, becomes: ['8989', '9000'] },
    {
      name: 'an empty element',
      text: ARR,
      updates: { UrlBase: '/sonarr' },
      becomes: ['<UrlBase></UrlBase>', '<UrlBase>/sonarr</UrlBase>'],
    },
    {
      name: 'an element that closes itself',
      text: ARR,
      updates: { Branch: 'main' },
      becomes: ['<Branch/>', '<Branch>main</Branch>'],
    },
    { name: 'emptied', text: ARR, updates: { ApiKey: '' }, becomes: ['0012ab', ''] },
    {
      name: 'special characters',
      text: ARR,
      updates: { BindAddress: 'a<b & c>d' },
      becomes: ['*', 'a&lt;b &amp; c&gt;d'],
    },
    {
      name: 'a new element',
      text: ARR,
      updates: { LogLevel: 'info' },
      becomes: ['<Branch/>', '<Branch/>\n  <LogLevel>info</LogLevel>'],
    },
    {
      name: 'an attribute',
      text: PLEX,
      updates: { '@FriendlyName': `it's` },
      becomes: ['My &quot;server&quot;', 'it&apos;s'],
    },
    {
      name: 'a new attribute',
      text: PLEX,
      updates: { '@secureConnections': '1' },
      becomes: ['<Preferences', '<Preferences secureConnections="1"'],
    },
    { name: 'a byte order mark and CRLF', text: NETWORK, updates: { EnableHttps: true }, becomes: ['false', 'true'] },
    {
      name: 'a list of the same length',
      text: NETWORK,
      updates: { KnownProxies: { string: ['one', 'four'] } },
      becomes: ['two &amp; three', 'four'],
    },
    {
      name: 'text beside an attribute',
      text: NETWORK,
      updates: { Nested: { Deep: { '#text': 'new' } } },
      becomes: ['text', 'new'],
    },
    {
      name: 'replace removes',
      text: ARR,
      updates: { BindAddress: '*', Port: '8989', UrlBase: null, Branch: null },
      mode: 'replace',
      becomes: ['\n  <ApiKey>0012ab</ApiKey>', ''],
    },
  ],
  refused: [
    ...[{ 'x:b': 1 }, { '@x:b': 1 }, { c: { 'x:b': 1 } }, { 'd:b:c': 1 }].map(updates => ({
      name: 'a prefix that nothing declares',
      text: '<a xmlns:d="urn:d"><c><x:e/></c></a>',
      updates,
      status: 400,
      message: /Nothing declares the prefix of '[xd]:b/,
    })),
    {
      name: 'a prefix that only an element before declares',
      text: '<a><b xmlns:x="urn:x"><x:e/></b><c><d/></c></a>',
      updates: { c: { 'x:b': 1 } },
      status: 400,
      message: /Nothing declares the prefix of 'x:b/,
    },
    { name: 'not closed', text: '<a>\n<b>\n</a>', status: 422, message: /line 3/ },
    { name: 'two roots', text: '<a/><b/>', status: 422, message: /behind the root/ },
    { name: 'a DOCTYPE', text: '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', status: 422, message: /DOCTYPE/ },
    { name: 'an entity', text: '<a>&b;</a>', status: 422, message: /entity/ },
    { name: 'twins', text: '<a b="1" b="2"/>', status: 422, message: /twice/ },
    {
      name: 'another root',
      text: '<a><b/></a>',
      updates: { x: { y: 1 }, '#z': 1, b: { c: 1 } },
      status: 400,
      message: /./,
    },
    {
      name: 'more elements than there are',
      text: NETWORK,
      updates: { KnownProxies: { string: ['one'] } },
      status: 400,
      message: /line 6 holds 2/,
    },
    {
      name: 'a comment inside',
      text: '<a>\n<b>x<!-- y --></b></a>',
      updates: { b: 'z' },
      status: 400,
      message: /line 2 holds more than text/,
    },
    { name: 'a bad name', text: '<a><b/></a>', updates: { 'x y': '1' }, status: 400, message: /cannot be the name/ },
    {
      name: 'control characters',
      text: '<a><b/></a>',
      updates: { b: '\u0001' },
      status: 400,
      message: /Control characters/,
    },
  ],
});

t.test('an update can be text', async t => {
  t.same(await xmlFormat.readUpdate('{"Port": 1}'), { kind: 'values', values: { Port: 1 } });
  t.same(await xmlFormat.readUpdate('<a/>'), { kind: 'file', text: '<a/>' });
  await t.rejects(async () => xmlFormat.readUpdate('<a>'), { status: 400, message: /neither/ });
  await t.rejects(async () => xmlFormat.readUpdate('<!DOCTYPE a><a/>'), { status: 400, message: /neither/ });
});

t.test('many elements within many declared prefixes are looked through in linear time', async t => {
  const count = 30_000;
  const declarations = Array.from({ length: count }, (_, index) => ` xmlns:p${index}="u"`).join('');
  const text = `<a${declarations}>${'<p0:b/>'.repeat(count)}<c/></a>`;
  const { text: edited } = await xmlFormat.edit(text, { c: '1' }, 'merge');
  t.ok(edited === text.replace('<c/>', '<c>1</c>'));
});

t.test('a file that is replaced is written in UTF-8', async t => {
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>é</a>`;
  t.match(await xmlFormat.readUpdate(declared('utf-8')), { kind: 'file' });
  const refusal = { status: 400, message: /it declares another encoding than UTF-8/ };
  await t.rejects(async () => xmlFormat.readUpdate(declared('ISO-8859-1')), refusal);
});

t.test('the laws hold for generated files', async t => {
  const name = fc.stringMatching(/^[A-Z][a-z]{0,6}$/);
  const text = fc.stringMatching(/^[ -~]{0,12}$/);
  const file = fc.dictionary(name, text, { minKeys: 1, maxKeys: 6 });
  const encoded = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const check = fc.asyncProperty(file, text, fc.nat(), async (object, value, index) => {
    const keys = Object.keys(object);
    const key = keys[index % keys.length] ?? '';
    const source = `<Root>\n${keys.map(member => `  <${member}>${encoded(object[member] ?? '')}</${member}>\n`).join('')}</Root>\n`;
    const edited = await xmlFormat.edit(source, { [key]: value }, 'merge');
    const before = (await xmlFormat.parse(source)).Root as Record<string, unknown>;
    const after = (await xmlFormat.parse(edited.text)).Root as Record<string, unknown>;
    return JSON.stringify(after) === JSON.stringify({ ...before, [key]: value === '' ? null : value });
  });
  await t.resolves(fc.assert(check));
});
