// Known causes of faults that log lines of any service state. A cause is a fact that a line states, not a guess; the
// first cause that fits a line counts.

export interface KnownCause {
  readonly id: string;
  readonly title: string;
  /** What the owner may do, in one sentence. */
  readonly advice: string;
  /** Words in lower case, without one of which the pattern cannot match. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
  /** How many lines must state the cause; services recover from fewer. Default 1. */
  readonly least?: number;
}

/** Sorted by how much a cause explains, most first. */
export const KNOWN_CAUSES: readonly KnownCause[] = [
  {
    id: 'disk-full',
    title: 'A disk is full',
    advice: 'Free space where the service writes, or move its data.',
    words: [
      'enospc',
      'no space left',
      'disk is full',
      'disk full',
      'not enough space',
      'insufficient space',
      'quota exceeded',
    ],
    pattern:
      /ENOSPC|no space left on device|(?:database or )?dis[kc](?: is)? full|not enough (?:free )?(?:disk )?space|insufficient (?:disk )?space|disk quota exceeded/i,
  },
  {
    id: 'inodes-used-up',
    title: 'The file system has no room for more watches or files',
    advice: 'Raise fs.inotify.max_user_watches and max_user_instances, or watch fewer directories.',
    words: ['inotify', 'file watchers', 'out of inodes'],
    pattern:
      /inotify (?:watch|instances?|limit)[^\n]{0,60}(?:limit|reached|exceeded)|limit for number of file watchers reached|user limit[^\n]{0,40}inotify|out of inodes/i,
  },
  {
    id: 'read-only-file-system',
    title: 'A file system is read-only',
    advice: 'Mount it writable, or look in the log of the kernel for why it became read-only.',
    words: ['erofs', 'read-only file system', 'readonly database', 'read-only filesystem'],
    pattern: /EROFS|read-only file ?system|attempt to write a readonly database/i,
  },
  {
    id: 'mount-down',
    title: 'A mount is down',
    advice: 'Start the service that mounts it, and restart those that read from it.',
    words: [
      ...['transport endpoint', 'enotconn', 'stale file handle', 'estale', 'is not a mountpoint', 'not mounted'],
      ...['fusermount', '/dev/fuse', 'mount point', 'mountpoint'],
    ],
    pattern:
      /transport endpoint is not connected|ENOTCONN[^\n]{0,40}(?:stat|open|scandir|lstat|read)|stale (?:nfs )?file handle|ESTALE|is not a mount ?point|(?:is|was) not mounted|fusermount3?: [^\n]{0,80}(?:failed|not permitted|not found|denied)|\/dev\/fuse[^\n]{0,40}(?:not permitted|no such|denied|not found)|mount ?point [^\n]{0,80}(?:does not exist|is missing|not available)/i,
  },
  {
    id: 'port-taken',
    title: 'A port is taken by another program',
    advice: 'Give one of the two another port, or end the program that holds it.',
    words: ['eaddrinuse', 'address already in use', 'already in use', 'is in use', 'address in use', 'bind'],
    pattern:
      /EADDRINUSE|address (?:is )?already in use|(?:port|address|socket)[^\n]{0,60}(?:is )?(?:already )?in use|only one usage of each socket address|could not bind[^\n]{0,60}in use/i,
  },
  {
    id: 'database-corrupt',
    title: 'A database is damaged',
    advice: 'Stop the service, keep a copy of the file, and restore a backup.',
    words: [
      'malformed',
      'sqlite_corrupt',
      'not a database',
      'sqlite_notadb',
      'invalid page',
      'corrupt',
      'integrity check',
    ],
    pattern:
      /database disk image is malformed|SQLITE_CORRUPT|file is not a database|SQLITE_NOTADB|invalid page in block|database[^\n]{0,60}\bcorrupt(?:ed|ion)?\b|integrity check failed/i,
  },
  {
    id: 'database-locked',
    title: 'A database is locked by another program',
    advice: 'See that only one program uses the file, and that it lies on a local disk.',
    words: [
      'database is locked',
      'sqlite_busy',
      'database table is locked',
      'deadlock detected',
      'lock timeout',
      'could not obtain lock',
    ],
    pattern:
      /database (?:table )?is locked|SQLITE_BUSY|deadlock detected|canceling statement due to lock timeout|could not obtain lock/i,
    least: 2,
  },
  {
    id: 'database-newer',
    title: 'A database was written by another version of the program',
    advice: 'Install the version that wrote it, or restore the backup from before the update.',
    words: [
      'no such table',
      'no such column',
      'migration',
      'schema version',
      'incompatible with server',
      'incompatible with this',
    ],
    pattern:
      /no such (?:table|column): |database (?:schema )?version [^\n]{0,60}(?:newer|higher|not supported|unsupported)|migration [^\n]{0,80}(?:failed|error)|failed to (?:run|apply) [^\n]{0,20}migrations?|database files are incompatible with server|relation "[^"\n]{1,80}" does not exist/i,
  },
  {
    id: 'database-login-refused',
    title: 'The database refuses the login of the service',
    advice: 'Let user and password of the service agree with those of the database.',
    words: ['password authentication failed', 'pg_hba', 'role "', 'access denied for user', 'wrongpass', 'noauth'],
    pattern:
      /password authentication failed for user|no pg_hba\.conf entry|role "[^"\n]{1,80}" does not exist|access denied for user|WRONGPASS|NOAUTH authentication required/i,
  },
  {
    id: 'database-missing',
    title: 'A database does not exist',
    advice: 'Create it, or correct its name in the configuration of the service.',
    words: ['database "', 'open database', 'unknown database', 'sqlite_cantopen'],
    pattern:
      /database "[^"\n]{1,80}" does not exist|(?:unable to|cannot) open database|SQLITE_CANTOPEN|unknown database/i,
  },
  {
    id: 'out-of-memory',
    title: 'A program ran out of memory',
    advice: 'Give the service more memory, or let it do less at once.',
    words: [
      'out of memory',
      'out-of-memory',
      'outofmemory',
      'heap limit',
      'heap out',
      'enomem',
      'cannot allocate memory',
      'oom',
      'bad_alloc',
      'memoryerror',
    ],
    pattern:
      /out[ -]of[ -]memory|OutOfMemory|heap limit allocation failed|ENOMEM|cannot allocate memory|oom[-_ ]?kill|std::bad_alloc|^MemoryError|\bMemoryError\b/i,
  },
  {
    id: 'too-many-open-files',
    title: 'A program has too many files open',
    advice: 'Raise its limit of open files (ulimit -n), or let it do less at once.',
    words: ['emfile', 'enfile', 'too many open files', 'file table overflow'],
    pattern: /EMFILE|ENFILE|too many open files|file table overflow/i,
  },
  {
    id: 'processes-used-up',
    title: 'No more processes or threads can be started',
    advice: 'Raise the limit of processes of the container or the user.',
    words: [
      'eagain',
      'resource temporarily unavailable',
      "can't start new thread",
      'cannot fork',
      'failed to create new os thread',
      'unable to create native thread',
    ],
    pattern:
      /(?:fork|spawn|thread|clone)[^\n]{0,60}(?:EAGAIN|resource temporarily unavailable)|can't start new thread|cannot fork|failed to create new OS thread|unable to create native thread/i,
  },
  {
    id: 'certificate',
    title: 'A certificate is not valid',
    advice: 'Renew it, trust its authority, or see that the clock is right.',
    words: ['certificate', 'cert_has_expired', 'self_signed', 'self-signed', 'x509', 'unable_to_verify', 'sslerror'],
    pattern:
      /certificate (?:has |is )?(?:expired|not yet valid|not trusted|signed by unknown)|certificate verify failed|CERT_HAS_EXPIRED|self[-_ ]signed(?:[-_ ]cert)|x509: |unable[_ ]to[_ ]verify[^\n]{0,40}(?:certificate|signature)|remote certificate is invalid/i,
  },
  {
    id: 'clock-wrong',
    title: 'The clock is wrong',
    advice: 'Set the clock of the machine, for example by NTP.',
    words: [
      'clock skew',
      'requesttimetooskewed',
      'time jumped',
      'clock is',
      'system time',
      'token used before issued',
      'in the future',
    ],
    pattern:
      /clock skew|RequestTimeTooSkewed|time jumped (?:back|forward)|(?:system )?clock is (?:wrong|off|not synchroni[sz]ed|ahead|behind)|system time[^\n]{0,40}(?:wrong|incorrect|off by)|token used before issued|timestamp[^\n]{0,30}in the future/i,
  },
  {
    id: 'time-zone',
    title: 'The time zone is not known',
    advice: 'Set TZ to a name such as Europe/Berlin, and install tzdata.',
    words: ['time zone', 'timezone', 'zoneinfo', 'tzdata', 'tzlocal'],
    pattern:
      /(?:unknown|invalid|unrecogni[sz]ed|no|bad) time ?zone|time ?zone[^\n]{0,60}(?:not found|invalid|unknown|not exist|mismatch|was not found)|ZoneInfoNotFound|TimeZoneNotFound|tzdata[^\n]{0,40}(?:missing|not found)/i,
  },
  {
    id: 'name-not-found',
    title: 'The name of a server is not found',
    advice: 'Correct the name in the configuration, or the DNS server of the machine.',
    words: [
      'enotfound',
      'eai_again',
      'getaddrinfo',
      'no such host',
      'name or service not known',
      'name resolution',
      'could not resolve',
      'could not translate host',
      'nodename nor servname',
    ],
    pattern:
      /ENOTFOUND|EAI_AGAIN|no such host|name or service not known|temporary failure in name resolution|name resolution failed|could not resolve host|could not translate host name|nodename nor servname|getaddrinfo[^\n]{0,40}failed/i,
  },
  {
    id: 'key-refused',
    title: 'A key or password is refused',
    advice: 'Enter the present key of the other service where this one keeps it.',
    words: [
      '401',
      '403',
      'unauthorized',
      'unauthorised',
      'api key',
      'apikey',
      'token',
      'forbidden',
      'invalid credentials',
      'authentication failed',
      'login failed',
      'access denied',
    ],
    pattern:
      /\b(?:40[13])\b[^\n]{0,40}(?:unauthori[sz]ed|forbidden|api ?key|token|login)|(?:unauthori[sz]ed|forbidden)[^\n]{0,40}\b40[13]\b|(?:status|code|http|error|response)[ :=(]{1,3}40[13]\b|HTTP\/\d(?:\.\d)?"? 40[13]\b|(?:invalid|wrong|incorrect|expired|bad|revoked|missing)[^\n]{0,12}(?:api[ _-]?key|token\b(?! [<'"(])|credentials|password)|(?:api[ _-]?key|credentials)[^\n]{0,24}(?:invalid|incorrect|wrong|rejected|refused|expired|not accepted)|\bunauthori[sz]ed\b|authentication failed|login failed/i,
    least: 2,
  },
  {
    id: 'rate-limited',
    title: 'Another service limits how often it may be asked',
    advice: 'Let the service ask less often, or raise the limit at the other one.',
    words: [
      '429',
      'too many requests',
      'rate limit',
      'ratelimit',
      'rate-limit',
      'api limit',
      'request limit',
      'grab limit',
    ],
    pattern:
      /\b429\b[^\n]{0,40}(?:too many|request)|too many requests|rate[ -]?limit(?:ed| (?:exceeded|reached|hit))|(?:status|code|http|error)[ :=(]{1,3}429\b|(?:api|request|grab|download) limit (?:reached|exceeded)/i,
    least: 3,
  },
  {
    id: 'permission-denied',
    title: 'The service may not read or write a file',
    advice: 'Give the file or its directory to the user that the service runs as.',
    words: [
      'eacces',
      'eperm',
      'permission denied',
      'operation not permitted',
      'unauthorizedaccess',
      'is not writable',
      'not writeable',
      'access to the path',
      'permissionerror',
    ],
    pattern:
      /EACCES|EPERM|permission denied|operation not permitted|UnauthorizedAccessException|access to the path [^\n]{1,200} is denied|(?:folder|directory|path|file)[^\n]{0,120} is not writ(?:e)?able|PermissionError/i,
  },
  {
    id: 'program-missing',
    title: 'A program, a module or a library is missing',
    advice: 'Install the service again, or what it needs.',
    words: [
      ...[
        'cannot find module',
        'module_not_found',
        'modulenotfound',
        'no module named',
        'importerror',
        'could not load file or assembly',
      ],
      ...[
        'error while loading shared libraries',
        'command not found',
        ': not found',
        'not found in path',
        'executable file not found',
        'spawn',
        'exec format error',
        'dllnotfound',
        'glibc',
      ],
    ],
    pattern:
      /cannot find module|MODULE_NOT_FOUND|ModuleNotFoundError|no module named|^ImportError|could not load file or assembly|error while loading shared libraries|command not found|executable file not found|sh: (?:line )?\d+: [^\n]{1,120}: not found|not found in \$?PATH|spawn \S{1,120} ENOENT|exec format error|DllNotFoundException|version `GLIBC/i,
  },
  {
    id: 'file-missing',
    title: 'A file or a directory is missing',
    advice: 'Create it, or correct its path in the configuration of the service.',
    words: [
      'enoent',
      'no such file or directory',
      'could not find a part of the path',
      'could not find file',
      'root folder',
      'filenotfound',
      'does not exist',
    ],
    pattern:
      /ENOENT|no such file or directory|could not find (?:a part of the path|file)|missing root folder|root folder[^\n]{0,120}(?:missing|does not exist)|FileNotFound|(?:path|directory|folder|file) [^\n]{0,120} does not exist/i,
    least: 2,
  },
  {
    id: 'configuration-invalid',
    title: 'A configuration cannot be read',
    advice: 'Correct the place that the line names, or restore the file from a backup.',
    words: [
      'invalid config',
      'invalid configuration',
      'configuration error',
      'config error',
      'yaml',
      'json',
      'toml',
      'xml',
      'unknown flag',
      ' option',
      ' argument',
      'unrecognized argument',
      'unknown option',
      'missing required',
      'environment variable',
    ],
    pattern:
      /(?:invalid|malformed|corrupt(?:ed)?|bad|broken|failed to (?:parse|load|read|decode)|error (?:parsing|loading|reading|in)|cannot parse|unable to (?:parse|load|read)|could not (?:parse|load|read))[^\n]{0,40}\b(?:config(?:uration)?|settings)\b|(?:config(?:uration)?|settings)[^\n]{0,80}(?:is invalid|not valid|parse error|syntax error|corrupt)|yaml(?:exception|\.scanner|: line \d)|(?:JSONDecodeError|Unexpected token [^\n]{1,80} JSON|is not valid JSON)|(?:unknown|bad|invalid|illegal) (?:flag|option|argument)\b|unrecogni[sz]ed arguments?|missing required (?:environment variable|setting|option|argument|configuration)|environment variable \S{1,80} (?:is )?(?:required|not set|missing)/i,
  },
  {
    id: 'dependency-unreachable',
    title: 'A service that it needs does not answer',
    advice: 'Start that service first, or correct its address in the configuration.',
    words: [
      'econnrefused',
      'connection refused',
      'ehostunreach',
      'enetunreach',
      'no route to host',
      'actively refused',
      'could not connect',
      'network is unreachable',
      'bad gateway',
      '502',
      '503',
      'service unavailable',
      'starting up',
      'waiting for',
    ],
    pattern:
      /ECONNREFUSED|connection refused|EHOSTUNREACH|ENETUNREACH|no route to host|network is unreachable|actively refused|could not connect to (?:server|database|\S{1,80}:\d)|\b502\b[^\n]{0,20}bad gateway|\b503\b[^\n]{0,20}(?:service )?unavailable|the database system is starting up/i,
    least: 3,
  },
  {
    id: 'answers-late',
    title: 'Another service answers too late',
    advice: 'Look at how busy that service and its disk are.',
    words: ['etimedout', 'timed out', 'timeout', 'deadline exceeded', 'i/o timeout'],
    pattern:
      /ETIMEDOUT|ESOCKETTIMEDOUT|(?:request|connection|operation|query|read|task) timed out|(?:connect|connection|read|request|i\/o|gateway) ?timeout|context deadline exceeded|was canceled due to the configured HttpClient\.Timeout/i,
    least: 3,
  },
  {
    id: 'connection-broken',
    title: 'Connections to another service break',
    advice: 'Look in that service’s log at the same times.',
    words: [
      'econnreset',
      'connection reset',
      'broken pipe',
      'epipe',
      'socket hang up',
      'unexpected eof',
      'connection closed',
    ],
    pattern:
      /ECONNRESET|connection reset by peer|broken pipe|EPIPE|socket hang up|unexpected EOF|server closed the connection unexpectedly/i,
    least: 3,
  },
  {
    id: 'disk-failing',
    title: 'A disk cannot be read or written',
    advice: 'Look in the log of the kernel, and at the health of the disk.',
    words: ['eio', 'input/output error', 'i/o error', 'remote i/o error', 'bad sector'],
    pattern: /\bEIO\b|input\/output error|\bI\/O error\b|remote I\/O error|bad sectors?\b/i,
  },
  {
    id: 'device-missing',
    title: 'A device cannot be used',
    advice: 'Hand the device to the container, and let the user of the service use it.',
    words: ['/dev/dri', 'nvidia', 'vaapi', 'cuda', 'hardware acceleration', 'no such device', 'enodev', '/dev/net/tun'],
    pattern:
      /(?:\/dev\/dri|\/dev\/net\/tun|nvidia|vaapi|cuda|hardware acceleration)[^\n]{0,80}(?:not found|no such|failed|unavailable|denied|not available|error)|(?:failed|cannot|unable)[^\n]{0,60}(?:\/dev\/dri|\/dev\/net\/tun|vaapi|cuda|nvidia)|no such device|ENODEV/i,
  },
  {
    id: 'program-crashed',
    title: 'A program crashed',
    advice: 'Look at the lines before the crash, and whether an update is at hand.',
    words: [
      'segmentation fault',
      'sigsegv',
      'core dumped',
      'panic:',
      'unhandled exception',
      'uncaughtexception',
      'uncaught exception',
      'fatal error',
      'unhandledpromiserejection',
      'illegal instruction',
      'sigill',
      'stack overflow',
      'bus error',
    ],
    pattern:
      /segmentation fault|SIGSEGV|core dumped|^panic: |\bpanic: |unhandled exception|uncaught ?exception|fatal error[: ]|UnhandledPromiseRejection|illegal instruction|SIGILL|stack overflow|bus error/i,
  },
];

const BY_ID = new Map(KNOWN_CAUSES.map((cause, rank) => [cause.id, { cause, rank }]));

/** The cause that a text states; undefined when it states no known one. */
export function causeOf(text: string): KnownCause | undefined {
  return KNOWN_CAUSES.find(({ pattern }) => pattern.test(text));
}

/** undefined for an unknown id. */
export function knownCause(id: string): { readonly cause: KnownCause; readonly rank: number } | undefined {
  return BY_ID.get(id);
}
