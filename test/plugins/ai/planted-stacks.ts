// Stacks in which one service has a fault, with its cause. Most programs run into a real fault; where that would take
// another machine, they print what such a service prints.

export interface PlantedStack {
  readonly trouble: string;
  /** Ids of findings, each of which names the cause. */
  readonly causes: readonly string[];
  /** A script for `sh`, or for `node -e` when it begins with `//`. Each runs in a directory of its own. */
  readonly script: string;
  /** Environment of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the lines keep the times that the program prints. */
  readonly hasTimes?: boolean;
  /** The recorded changes of the stack. */
  readonly changes?: readonly Readonly<Record<string, unknown>>[];
}

const sqlite = (body: string) => `//
const Database = require('better-sqlite3');
const attempt = (text, act) => { try { act(); } catch (error) { console.error('ERROR ' + text + ': ' + error.code + ': ' + error.message); } };
${body}`;

const refusing = (status: number, reason: string) => `//
const { createServer, get } = require('node:http');
const server = createServer((_, answer) => { answer.statusCode = ${status}; answer.end(); }).listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 4; i += 1)
    await new Promise(done => get({ port: server.address().port, path: '/api/v3/queue' }, answer => {
      console.error('ERROR request failed with status code ' + answer.statusCode + ' (${reason})');
      answer.resume(); answer.on('end', done);
    }));
  server.close();
});`;

const connecting = (attempts: number, after: string) => `//
const { connect, createServer } = require('node:net');
const probe = createServer().listen(0, '127.0.0.1', () => {
  const { port } = probe.address();
  probe.close(async () => {
    for (let i = 0; i < ${attempts}; i += 1)
      await new Promise(done => connect(port, '127.0.0.1').on('error', error => { console.error('WARN database is not reachable, trying again: ' + error.message); done(); }));
    ${after}
  });
});`;

const print = (...lines: readonly string[]) => lines.map(line => `echo '${line.replaceAll("'", `'\\''`)}'`).join('\n');

export const PLANTED: readonly PlantedStack[] = [
  {
    trouble: 'a port is taken',
    causes: ['port-taken'],
    script: `//
const { createServer } = require('node:http');
const first = createServer().listen(0, '127.0.0.1', () => {
  createServer().on('error', error => { console.error(error); first.close(); }).listen(first.address().port, '127.0.0.1');
});`,
  },
  {
    trouble: 'a port is taken, told by a web server',
    causes: ['port-taken'],
    script: print('[emerg] 12#12: bind() to 0.0.0.0:8080 failed (98: Address already in use)'),
  },
  { trouble: 'a disk is full', causes: ['disk-full'], script: 'cat /etc/passwd > /dev/full' },
  {
    trouble: 'a disk is full, told by a program',
    causes: ['disk-full'],
    script: `//
require('node:fs').writeFile('/dev/full', 'x'.repeat(9999), error => console.error('ERROR cannot save the state:', error.message));`,
  },
  {
    trouble: 'a mount is down',
    causes: ['mount-down'],
    script: print(
      '[Error] DiskScanService: System.IO.IOException: Transport endpoint is not connected : /mnt/debrid/shows',
      '   at System.IO.Enumeration.FileSystemEnumerator.MoveNext()',
    ),
  },
  {
    trouble: 'a mount has gone stale',
    causes: ['mount-down'],
    script: print("ls: cannot access '/mnt/media': Stale file handle"),
  },
  {
    trouble: 'FUSE is not allowed',
    causes: ['mount-down'],
    script: print(
      'mount helper error: fusermount3: mount failed: Operation not permitted',
      'Fatal error: failed to mount FUSE fs',
    ),
  },
  {
    trouble: 'a database is locked',
    causes: ['database-locked'],
    script: sqlite(`const [one, other] = [1, 2].map(() => new Database('app.db', { timeout: 0 }));
one.exec('CREATE TABLE t (x)'); one.exec('BEGIN EXCLUSIVE');
for (let i = 0; i < 3; i += 1) attempt('cannot save episode ' + i, () => other.exec('INSERT INTO t VALUES (1)'));`),
  },
  {
    trouble: 'a database is damaged',
    causes: ['database-corrupt'],
    script: sqlite(`require('node:fs').writeFileSync('app.db', 'no database at all'.repeat(200));
attempt('cannot open the library', () => new Database('app.db').exec('SELECT * FROM t'));`),
  },
  {
    trouble: 'a database is missing',
    causes: ['database-missing'],
    script: sqlite(
      `attempt('cannot open the library', () => new Database('none/../app.db', { readonly: true, fileMustExist: true }));`,
    ),
  },
  {
    trouble: 'a database is of another version',
    causes: ['database-newer'],
    script: sqlite(
      `attempt('cannot read the queue', () => new Database('app.db').prepare('SELECT added FROM queue').all());`,
    ),
  },
  {
    trouble: 'a database may only be read',
    causes: ['read-only-file-system'],
    script: sqlite(`new Database('app.db').exec('CREATE TABLE t (x)');
attempt('cannot save', () => new Database('app.db', { readonly: true }).exec('INSERT INTO t VALUES (1)'));`),
  },
  {
    trouble: 'the database refuses the password',
    causes: ['database-login-refused'],
    script: print(
      '2026 FATAL:  password authentication failed for user "riven"',
      'DETAIL: Connection matched pg_hba.conf line 100',
    ),
  },
  {
    trouble: 'the database is not created',
    causes: ['database-missing'],
    script: print('FATAL:  database "zilean" does not exist'),
  },
  {
    trouble: 'the data are of another server version',
    causes: ['database-newer'],
    script: print(
      'FATAL:  database files are incompatible with server',
      'DETAIL:  The data directory was initialized by PostgreSQL version 16, which is not compatible with this version 18.1.',
    ),
  },
  {
    trouble: 'a deadlock',
    causes: ['database-locked'],
    script: print('ERROR:  deadlock detected', 'ERROR:  deadlock detected', 'DETAIL: Process 12 waits for ShareLock'),
  },
  {
    trouble: 'a key is refused',
    causes: ['key-refused'],
    script: refusing(401, 'Unauthorized'),
  },
  {
    trouble: 'a key was changed',
    causes: ['key-changed'],
    script: refusing(401, 'Unauthorized'),
    changes: [
      {
        at: new Date().toISOString(),
        event_type: 'config_change',
        source: 'dumb_config',
        details: { changes: [{ path: 'prowlarr.api_key', before: '[REDACTED]', after: '[REDACTED]' }] },
      },
    ],
  },
  { trouble: 'an indexer limits', causes: ['rate-limited'], script: refusing(429, 'Too Many Requests') },
  {
    trouble: 'a service behind a proxy is down',
    causes: ['dependency-unreachable'],
    script: refusing(503, 'Service Unavailable').replaceAll('status code', 'status 503 Service Unavailable, code'),
  },
  { trouble: 'a dependency is down', causes: ['dependency-unreachable'], script: connecting(5, '') },
  {
    trouble: 'a dependency starts late',
    causes: ['dependency-unreachable'],
    script: connecting(4, "console.log('INFO connected to the database');"),
  },
  {
    trouble: 'connections break',
    causes: ['connection-broken'],
    script: `//
const { connect, createServer } = require('node:net');
const server = createServer(socket => socket.resetAndDestroy()).listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 4; i += 1)
    await new Promise(done => connect(server.address().port, '127.0.0.1').on('error', error => { console.error('ERROR download broke: ' + error.message); done(); }));
  server.close();
});`,
  },
  {
    trouble: 'a server answers too late',
    causes: ['answers-late'],
    script: print(...Array.from({ length: 4 }, (_, i) => `[Warn] HttpClient: Http request timed out, attempt ${i}`)),
  },
  {
    trouble: 'a name is not found',
    causes: ['name-not-found'],
    script: print('ERROR: getaddrinfo ENOTFOUND postgres', 'curl: (6) Could not resolve host: indexer.invalid'),
  },
  {
    trouble: 'a file may not be read',
    causes: ['permission-denied'],
    script: `//
const { writeFileSync, readFileSync, chmodSync } = require('node:fs');
writeFileSync('config.xml', 'x'); chmodSync('config.xml', 0o600);
if (process.getuid() === 0) process.setuid(65534);
try { if (process.getuid() === 65534) readFileSync('/proc/1/environ'); } catch (error) { console.error('ERROR cannot read the configuration:', error.message); }`,
  },
  {
    trouble: 'a folder may not be written',
    causes: ['permission-denied'],
    script: print(
      '[Fatal] ConsoleApp: EPIC FAIL!',
      "System.UnauthorizedAccessException: Access to the path '/config/logs' is denied.",
    ),
  },
  {
    trouble: 'a file system is read-only',
    causes: ['read-only-file-system'],
    script: print('touch: cannot touch /data/media/x: Read-only file system'),
  },
  {
    trouble: 'a folder is missing',
    causes: ['file-missing'],
    script: 'ls /mnt/media/shows-that-are-gone\nls /mnt/media/shows-that-are-gone',
  },
  {
    trouble: 'a program is missing',
    causes: ['program-missing'],
    script: 'ffprobe-that-is-gone --version\n./also-gone\ntrue',
  },
  { trouble: 'a module is missing', causes: ['program-missing'], script: "//\nrequire('express-that-is-gone');" },
  {
    trouble: 'a program is for another machine',
    causes: ['program-missing'],
    script: print('/opt/service/bin: line 1: cannot execute binary file: Exec format error'),
  },
  {
    trouble: 'too many files are open',
    causes: ['too-many-open-files'],
    script: `ulimit -n 24\nexec node -e "const fs = require('node:fs'); const open = () => fs.open('/etc/passwd', error => error ? console.error('ERROR', error.message) : open()); open()"`,
  },
  {
    trouble: 'a program runs out of memory',
    causes: ['out-of-memory'],
    script: `exec node --max-old-space-size=8 -e "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length))"`,
  },
  {
    trouble: 'the kernel ended a program',
    causes: ['out-of-memory'],
    script: print('Memory cgroup out of memory: Killed process 4242 (transcoder)'),
  },
  {
    trouble: 'a program crashes',
    causes: ['program-crashed', 'review-restart-loop'],
    script: "sh -c 'kill -SEGV $$'\ntrue",
  },
  {
    trouble: 'an exception is not caught',
    causes: ['program-crashed'],
    script:
      "//\nprocess.on('uncaughtException', error => { console.error('FATAL uncaughtException:', error.message); process.exit(1); });\nnull.x;",
  },
  {
    trouble: 'a configuration is no JSON',
    causes: ['configuration-invalid'],
    script: `//
try { JSON.parse('{"port": 8080,'); } catch (error) { console.error('ERROR failed to load config settings.json: ' + error.message); }`,
  },
  { trouble: 'an option is not known', causes: ['configuration-invalid'], script: 'node --no-such-option' },
  {
    trouble: 'a variable is missing',
    causes: ['configuration-invalid'],
    script: print('Error: environment variable DATABASE_URL is not set'),
  },
  {
    trouble: 'a certificate has expired',
    causes: ['certificate'],
    script: print(
      'ERROR x509: certificate has expired or is not yet valid: current time 2026-03-01T00:00:00Z is after 2026-02-01T00:00:00Z',
    ),
  },
  {
    trouble: 'a certificate is of nobody',
    causes: ['certificate'],
    script: print('Error: self-signed certificate in certificate chain', "  code: 'SELF_SIGNED_CERT_IN_CHAIN'"),
  },
  {
    trouble: 'a crash loop',
    causes: ['review-restart-loop'],
    script: print(...Array.from({ length: 4 }, () => 'Application started. Press Ctrl+C to shut down.')),
  },
  {
    trouble: 'a wrong time zone',
    causes: ['time-zone'],
    hasTimes: true,
    env: { TZ: 'Etc/GMT-5' },
    script: `exec node -e "const now = new Date(); const two = n => String(n).padStart(2, '0'); console.log(now.getFullYear() + '-' + two(now.getMonth() + 1) + '-' + two(now.getDate()) + ' ' + two(now.getHours()) + ':' + two(now.getMinutes()) + ':' + two(now.getSeconds()) + ' INFO the scan begins')"`,
  },
  {
    trouble: 'a time zone that is none',
    causes: ['time-zone'],
    script: `//
try { new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berln' }); } catch (error) { console.error('ERROR', error.message); }`,
  },
  {
    trouble: 'the clock is wrong',
    causes: ['clock-wrong'],
    script: print('ERROR login failed for the token: token used before issued, check for clock skew'),
  },
  {
    trouble: 'no more watches',
    causes: ['inodes-used-up', 'disk-full'],
    script: print("Error: ENOSPC: System limit for number of file watchers reached, watch '/data'"),
  },
  {
    trouble: 'a disk fails',
    causes: ['disk-failing'],
    script: print("dd: error reading '/dev/sda': Input/output error"),
  },
  {
    trouble: 'a device is missing',
    causes: ['device-missing'],
    script: print('[AVHWDeviceContext] Failed to open /dev/dri/renderD128', 'Device creation failed: -5.'),
  },
  {
    trouble: 'no more processes',
    causes: ['processes-used-up'],
    script: print('sh: 1: Cannot fork', "RuntimeError: can't start new thread"),
  },
];

/** Scripts that print what healthy services print. */
export const HEALTHY: readonly string[] = [
  print(
    '[Info] Bootstrap: Starting the service, version 4.0.9',
    '[Info] Now listening on: http://[::]:8989',
    '[Info] Application started. Press Ctrl+C to shut down.',
    '[Info] RssSyncService: RSS Sync Completed. Reports found: 100, Reports grabbed: 0',
  ),
  print(
    'INFO  0 errors, 0 warnings',
    'INFO  12 tasks completed, 0 failed: none',
    'INFO  token bucket refilled',
    'INFO  cache: cleaned: objects 12 (was 14) in use 0',
  ),
  print(
    'LOG:  database system is ready to accept connections',
    'LOG:  checkpoint complete: wrote 12 buffers (0.1%)',
    'LOG:  automatic vacuum of table "media.public.episodes"',
  ),
  print(
    'GET /api/v3/queue 200 12ms',
    'GET /health 200 1ms',
    'GET /favicon.ico 404 1ms',
    'POST /api/v3/command 201 31ms',
    'GET /login 302 2ms',
  ),
  connecting(1, "console.log('INFO connected to the database');"),
  print(
    'INFO request timeout is set to 30 s',
    'INFO retrying in 5 s',
    'INFO the second attempt succeeded',
    'INFO listening on port 8080',
  ),
  print(
    'INFO port 8080 is free',
    'INFO mounted /mnt/remote',
    'INFO mount point /mnt/remote is ready',
    'INFO certificate is valid until 2027-01-01',
    'INFO time zone: Europe/Berlin',
  ),
  print(
    'INFO checking permissions: ok',
    'INFO disk space: 512 GiB free',
    'INFO memory: 12 % in use',
    'INFO open files: 120 of 1024',
    'INFO no errors found',
  ),
  print(
    'INFO authentication is disabled',
    'INFO the api key is set',
    'INFO user ann logged in',
    'INFO session of ann ended',
    'INFO 401 episodes are monitored',
    'INFO 403 movies',
  ),
  print(
    'DEBUG database is locked by this process for 2 ms',
    'DEBUG deadlock check: none',
    'DEBUG config loaded from /config/config.json',
    'INFO update available: 1.2.4',
    'INFO crash reports are off',
  ),
];
