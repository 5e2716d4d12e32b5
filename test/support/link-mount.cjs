// A file system of links that speaks the FUSE protocol of the kernel as far as reading needs it, and answers after
// DELAY_MS. Each of the folders d0, d1, ... holds links l0, l1, ... to `/old/<folder>/<link>`. `files` holds every name
// that begins with f. Requests for `hang` are never answered. Prints `mounted`. Usage: link-mount.cjs DIRECTORY FOLDERS
// LINKS DELAY_MS
const { spawn } = require('node:child_process');
const { openSync, read, writeSync } = require('node:fs');

const [directory, folders, links, delayMs] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const [ROOT, FIRST_FOLDER, HANG, FILES, FILE, FIRST_LINK] = [1, 2, 900_000, 900_001, 900_002, 1_000_000];
const [ENOENT, ENOSYS] = [2, 38];
const [DIRECTORY, LINK, REGULAR] = [0o040755, 0o120777, 0o100644];
const WITHOUT_ANSWER = new Set([2, 36, 42]);
const HEADER_BYTES = 40;

const device = openSync('/dev/fuse', 'r+');
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
// mount(8) examines what it has mounted, so this process must answer while it runs.
spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'links', directory], {
  stdio: ['ignore', 'inherit', 'inherit', device],
}).on('exit', code => (code === 0 ? process.stdout.write('mounted\n') : process.exit(1)));

function modeOf(node) {
  if (node >= FIRST_LINK) return LINK;
  return node === FILE ? REGULAR : DIRECTORY;
}

function attributes(node) {
  const bytes = Buffer.alloc(88);
  bytes.writeBigUInt64LE(BigInt(node), 0);
  bytes.writeUInt32LE(modeOf(node), 60);
  bytes.writeUInt32LE(1, 64);
  return bytes;
}

function childOf(node, name) {
  const number = Number(name.slice(1));
  if (node === ROOT && name === 'hang') return HANG;
  if (node === ROOT && name === 'files') return FILES;
  if (node === ROOT && /^d\d+$/.test(name) && number < folders) return FIRST_FOLDER + number;
  if (node === FILES && name.startsWith('f')) return FILE;
  if (node >= FIRST_FOLDER && node < HANG && /^l\d+$/.test(name) && number < links)
    return FIRST_LINK + (node - FIRST_FOLDER) * links + number;
  return undefined;
}

function entriesOf(node) {
  if (node === ROOT) return Array.from({ length: folders }, (_, folder) => `d${folder}`);
  return node < HANG ? Array.from({ length: links }, (_, link) => `l${link}`) : [];
}

function listing(node, offset, size) {
  const parts = [];
  let left = size;
  for (const [index, name] of entriesOf(node).entries()) {
    if (index < offset) continue;
    const entry = Buffer.alloc(24 + Math.ceil(name.length / 8) * 8);
    if (entry.length > left) break;
    const child = childOf(node, name);
    entry.writeBigUInt64LE(BigInt(child), 0);
    entry.writeBigUInt64LE(BigInt(index + 1), 8);
    entry.writeUInt32LE(name.length, 16);
    entry.writeUInt32LE(modeOf(child) >> 12, 20);
    entry.write(name, 24, 'latin1');
    left -= entry.length;
    parts.push(entry);
  }
  return Buffer.concat(parts);
}

/** The bytes of the answer, or an error number. */
function answerOf(opcode, node, body) {
  switch (opcode) {
    case 1: {
      const child = childOf(node, body.toString('latin1', 0, body.indexOf(0)));
      if (child === undefined) return ENOENT;
      const head = Buffer.alloc(40);
      head.writeBigUInt64LE(BigInt(child), 0);
      return Buffer.concat([head, attributes(child)]);
    }
    case 3:
      return Buffer.concat([Buffer.alloc(16), attributes(node)]);
    case 5: {
      const number = node - FIRST_LINK;
      return Buffer.from(`/old/${Math.floor(number / links)}/${number % links}`);
    }
    case 26: {
      const out = Buffer.alloc(64);
      out.writeUInt32LE(7, 0);
      out.writeUInt32LE(31, 4);
      out.writeUInt32LE(4_096, 20);
      return out;
    }
    case 27:
      return Buffer.alloc(16);
    case 28:
      return listing(node, Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
    case 17:
      return Buffer.alloc(80);
    case 29:
    case 38:
      return Buffer.alloc(0);
    default:
      return ENOSYS;
  }
}

function reply(unique, answer) {
  const body = typeof answer === 'number' ? Buffer.alloc(0) : answer;
  const head = Buffer.alloc(16);
  head.writeUInt32LE(16 + body.length, 0);
  head.writeInt32LE(typeof answer === 'number' ? -answer : 0, 4);
  head.writeBigUInt64LE(unique, 8);
  try {
    writeSync(device, Buffer.concat([head, body]));
  } catch {
    // The caller has gone.
  }
}

function serve() {
  const buffer = Buffer.alloc(65_536);
  read(device, buffer, 0, buffer.length, null, (error, length) => {
    // The file system has been unmounted.
    if (error?.code === 'ENODEV') process.exit(0);
    if (!error && length >= HEADER_BYTES) {
      const [opcode, unique] = [buffer.readUInt32LE(4), buffer.readBigUInt64LE(8)];
      const node = Number(buffer.readBigUInt64LE(16));
      const body = buffer.subarray(HEADER_BYTES, length);
      if (node !== HANG && !WITHOUT_ANSWER.has(opcode)) {
        const answer = answerOf(opcode, node, body);
        if (delayMs > 0) setTimeout(reply, delayMs, unique, answer);
        else reply(unique, answer);
      }
    }
    // Until it is mounted, every read fails.
    setTimeout(serve, error ? 5 : 0);
  });
}

serve();
