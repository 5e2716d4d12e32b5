// Manifests are read in any form of JSON, as a stream, and never quoted in errors.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Manifest } from '../../../plugins/symlinks/manifest/manifest-reader.ts';
import { testDir } from '../../support/directory.ts';
import { heldBytes } from '../../support/held-memory.ts';
import { rounds } from '../../support/rounds.ts';

const dir = testDir(t, {});
const file = path.join(dir, 'manifest.json');

async function read(text: string | Buffer) {
  await writeFile(file, text);
  const manifest = Manifest.open(file);
  try {
    return { header: manifest.header, total: manifest.total, items: [...manifest.items()] };
  } finally {
    manifest.close();
  }
}

t.test('keys stand in any order, with any white space, beside unknown ones', async t => {
  const entry = fc.record({
    link_path: fc.string({ minLength: 1 }),
    target: fc.string({ minLength: 1 }),
    more: fc.jsonValue(),
  });
  const members = fc.record({
    entries: fc.array(entry, { maxLength: 20 }),
    roots: fc.array(fc.string()),
    created_at: fc.option(fc.string()),
    manifest_type: fc.constantFrom('symlink_snapshot', 'something else', null),
    other: fc.jsonValue({ maxDepth: 4 }),
  });
  const order = fc.shuffledSubarray(['entries', 'roots', 'created_at', 'manifest_type', 'other'] as const, {
    minLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(members, order, fc.constantFrom(undefined, 1, 4, '\t'), async (made, keys, indent) => {
      const text = JSON.stringify(Object.fromEntries(keys.map(key => [key, made[key]])), null, indent);
      const { header, total, items } = await read(text);
      t.equal(header.type, 'symlink_snapshot');
      t.same(header.roots, made.roots);
      t.equal(header.createdAt, made.created_at);
      t.equal(total, made.entries.length);
      const bytes = (text: string) => (text.trim() === '' ? null : Buffer.from(text).toString('latin1'));
      const expected = made.entries.map(({ link_path: link, target }) =>
        bytes(link) === null || bytes(target) === null ? null : { linkPath: bytes(link), target: bytes(target) },
      );
      t.same(items, expected);
    }),
    { numRuns: rounds(20) },
  );
});

t.test('a document is accepted or refused as by JSON.parse', async t => {
  const text = JSON.stringify({
    created_at: 'a \\ "b" é \u0007',
    roots: ['/r'],
    entries: [{ link_path: '/r/a', target: '/t/é', n: [-1.5e3, true, false, null, {}, []] }],
  });
  const change = fc.record({
    at: fc.nat(text.length),
    by: fc.constantFrom('', '"', '{', '}', '[', ',', ':', '\\', '0', 'x', ' ', '\n'),
  });
  await fc.assert(
    fc.asyncProperty(change, fc.nat(2), async ({ at, by }, taken) => {
      const changed = text.slice(0, at) + by + text.slice(at + taken);
      let isManifest = false;
      try {
        isManifest = Array.isArray(JSON.parse(changed).entries);
      } catch {}
      if (isManifest) await t.resolves(read(changed), changed);
      else await t.rejects(read(changed), { name: 'Problem' }, changed);
    }),
    { numRuns: rounds(100) },
  );
});

t.test('manifests of the earlier program are read', async t => {
  const python = `import json
json.dump({
  "manifest_type": "symlink_snapshot", "created_at": "2025-05-01T04:00:00+00:00",
  "entries": [{"link_path": b"/r/caf\\xe9".decode("utf-8", "surrogateescape"), "target": "/t/\\u00e9\\U0001F600", "target_exists": True}],
  "roots": ["/r"], "include_broken": True,
}, open(${JSON.stringify(file)}, "w"), indent=2)`;
  execFileSync('python3', ['-c', python]);
  const { header, items } = await read(await readFile(file));
  t.match(header, { type: 'symlink_snapshot', createdAt: '2025-05-01T04:00:00+00:00', roots: ['/r'] });
  t.same(items, [{ linkPath: '/r/caf\xe9', target: Buffer.from('/t/é😀').toString('latin1') }]);
});

t.test('the raw bytes of a name win over its text', async t => {
  const entry = { link_path: '/r/�', link_path_b64: Buffer.from([0x2f, 0xff]).toString('base64'), target: '/t' };
  t.same((await read(JSON.stringify({ entries: [entry] }))).items, [{ linkPath: '/\xff', target: '/t' }]);
});

t.test('changes are undone newest first, however many there are', async t => {
  const count = 150_000;
  const lines = Array.from(
    { length: count },
    (_, at) => `{"link_path":"/r/${at}","old_target":"/o","new_target":"/n"}`,
  );
  const { header, total, items } = await read(
    `{"changes":[\n${lines.join(',\n')}\n],"root_migrations":[],"roots":["/r"]}`,
  );
  t.equal(header.type, 'symlink_repair');
  t.equal(total, count);
  const order = items.map(item => (item !== null && 'kind' in item && item.kind === 'rewrite' ? item.linkPath : ''));
  t.equal(order.join(), Array.from({ length: count }, (_, at) => `/r/${count - 1 - at}`).join());
});

t.test('memory does not grow with the entries', async t => {
  const count = 200_000;
  const entry = JSON.stringify({ link_path: `/r/${'x'.repeat(80)}`, target: `/t/${'y'.repeat(80)}` });
  await writeFile(file, `{"entries":[\n${Array(count).fill(entry).join(',\n')}\n]}`);
  const before = heldBytes();
  const manifest = Manifest.open(file);
  let seen = 0;
  for (const item of manifest.items()) {
    seen += 1;
    // All entries together would take 40 MB.
    if (seen === count && item !== null) t.ok(heldBytes() - before < 8_000_000);
  }
  manifest.close();
  t.equal(seen, count);
});

t.test('an invalid element does not hide the others', async t => {
  const long = 'x'.repeat(3_000_000);
  const text = `{"entries": [1, null, [], {"link_path": " ", "target": "/t"}, {"link_path": "/r/a"},
    {"link_path": "/r/b", "target": "/t", "note": "${long}"}, {"link_path": "/r/c", "target": "/t"}], "${long}": 1}`;
  const { total, items } = await read(text);
  t.equal(total, 7);
  t.same(items, [null, null, null, null, null, null, { linkPath: '/r/c', target: '/t' }]);
});

t.test('an invalid manifest is refused with a sentence that quotes nothing', async t => {
  const secret = 'hunter2';
  for (const [text, reason] of [
    ['', /begin with {/],
    [secret, /begin with {/],
    [`["${secret}"]`, /begin with {/],
    [`{"password": "${secret}"}`, /neither entries nor changes/],
    [`{"entries": "${secret}"}`, /neither entries nor changes/],
    [`{"entries": [{"${secret}": }]}`, /not JSON at byte/],
    [`{"entries": [${secret}]}`, /not JSON at byte/],
    [`{"entries": []} ${secret}`, /not JSON at byte/],
    [`{"entries": ${'['.repeat(200)}`, /nested deeper/],
    [`{"entries": [], "other": ${'{"a":'.repeat(200_000)}`, /nested deeper/],
    [`{"entries": [${'1'.repeat(100_000)}]}`, /not JSON at byte/],
  ] as const) {
    const error = await read(text).catch((error: Error) => error);
    t.match(error, { status: 400, message: reason }, text.slice(0, 40));
    t.notMatch((error as Error).message, secret);
  }
});

t.test('only regular files are read', async t => {
  execFileSync('mkfifo', [path.join(dir, 'fifo')]);
  await mkdir(path.join(dir, 'directory'));
  await symlink('/dev/zero', path.join(dir, 'endless'));
  for (const name of ['fifo', 'directory', 'endless'])
    t.throws(() => Manifest.open(path.join(dir, name)), { message: /no regular file/ }, name);
  t.throws(() => Manifest.open(path.join(dir, 'missing')), { message: /does not exist/ });
  t.throws(() => Manifest.open(path.join(file, 'missing')), { message: /does not exist/ });
});
