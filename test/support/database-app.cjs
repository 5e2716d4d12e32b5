// A stand-in for applications whose environment variables say where their data is, in SQLite or in PostgreSQL. The
// first argument names the application that it imitates. It creates its tables at each start, or with a script of its
// own, and records that as the application does. /data tells which engine it uses and what its tables hold.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync } = require('node:fs');
const { createServer } = require('node:http');
const path = require('node:path');

const [, , name, ...words] = process.argv;
const { env } = process;
const after = word => words[words.indexOf(word) + 1];

/** Types of columns by kind, in SQLite and in PostgreSQL. Each table also has a column id. */
const KINDS = {
  text: ['TEXT', 'text'],
  int: ['INTEGER', 'integer'],
  bool: ['boolean', 'boolean'],
  time: ['datetime', 'timestamp with time zone'],
  json: ['json', 'json'],
};

const APPS = {
  bazarr: {
    isPostgres: env.POSTGRES_ENABLED === 'true',
    access: ['POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE', 'POSTGRES_USERNAME', 'POSTGRES_PASSWORD'],
    file: () => path.join(after('--config'), 'db/bazarr.db'),
    port: () => after('--port'),
    address: () => {
      const settings = path.join(after('--config'), 'config/config.yaml');
      return /^ {2}ip: (\S+)$/m.exec(existsSync(settings) ? readFileSync(settings, 'utf8') : '')?.[1] ?? '*';
    },
    tables: {
      table_shows: { title: 'text', seriesType: 'text', tvdbId: 'int', monitored: 'text', updated_at: 'time' },
      table_movies: { title: 'text', year: 'text', subtitles: 'text' },
      table_history: { showId: 'int', action: 'int', description: 'text', timestamp: 'time' },
      system: { configured: 'text', updated: 'text' },
    },
    refers: { table_history: ['showId', 'table_shows'] },
    seeds: { system: 'configured' },
    notes: () => [
      'CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)',
      "INSERT INTO alembic_version VALUES ('dc09994b7e65')",
    ],
  },
  pulsarr: {
    isPostgres: env.dbType === 'postgres',
    access: ['dbHost', 'dbPort', 'dbName', 'dbUser', 'dbPassword'],
    file: () => env.dbPath,
    port: () => env.listenPort,
    isScript: after('--bun') === 'migrations/migrate.ts',
    tables: {
      users: { name: 'text', can_sync: 'bool', created_at: 'time' },
      watchlist_items: { user_id: 'int', title: 'text', guids: 'json', added: 'time' },
      notifications: { type: 'text', sent_to_discord: 'bool' },
      configs: { port: 'int', _isReady: 'bool' },
    },
    refers: { watchlist_items: ['user_id', 'users'] },
    seeds: { configs: 'port' },
    notes: isPostgres => [
      `CREATE TABLE knex_migrations (id ${isPostgres ? 'serial' : 'integer'} PRIMARY KEY, name varchar(255), batch integer)`,
      'CREATE TABLE knex_migrations_lock (is_locked integer)',
      "INSERT INTO knex_migrations (name, batch) VALUES ('001_create_users.ts', 1), ('002_create_watchlist.ts', 1)",
      'INSERT INTO knex_migrations_lock VALUES (0)',
    ],
  },
  seerr: {
    isPostgres: env.DB_TYPE === 'postgres',
    access: ['DB_HOST', 'DB_PORT', 'DB_NAME', 'DB_USER', 'DB_PASS'],
    file: () => path.join(env.CONFIG_DIRECTORY ?? 'config', 'db/db.sqlite3'),
    port: () => env.PORT,
    address: () => env.HOST,
    tables: {
      user: { email: 'text', permissions: 'int', createdAt: 'time' },
      media: { mediaType: 'text', tmdbId: 'int', mediaAddedAt: 'time' },
      media_request: { mediaId: 'int', is4k: 'bool', tags: 'text', createdAt: 'time' },
    },
    refers: { media_request: ['mediaId', 'media'] },
    seeds: {},
    notes: isPostgres => [
      `CREATE TABLE migrations (id ${isPostgres ? 'serial' : 'integer'} PRIMARY KEY, timestamp bigint, name varchar)`,
      `INSERT INTO migrations (timestamp, name) VALUES (1, '${isPostgres ? 'InitialMigration2' : 'CreateUsers1'}')`,
    ],
  },
};

const app = APPS[name];
const column = app.isPostgres ? 1 : 0;

function statements() {
  const id = app.isPostgres ? 'serial PRIMARY KEY' : 'INTEGER PRIMARY KEY AUTOINCREMENT';
  const tables = Object.entries(app.tables).flatMap(([table, columns]) => {
    const lines = Object.entries(columns).map(([key, kind]) => `"${key}" ${KINDS[kind][column]}`);
    const [key, other] = app.refers[table] ?? [];
    if (key !== undefined) lines.push(`FOREIGN KEY ("${key}") REFERENCES "${other}" (id)`);
    const seed = app.seeds[table];
    const seeded = seed === undefined ? [] : [`INSERT INTO "${table}" ("${seed}") VALUES ('7')`];
    return [`CREATE TABLE "${table}" (id ${id}, ${lines.join(', ')})`, ...seeded];
  });
  return [...tables, ...app.notes(app.isPostgres)];
}

async function open() {
  const first = Object.keys(app.tables)[0];
  if (!app.isPostgres) {
    const Database = require('better-sqlite3');
    mkdirSync(path.dirname(app.file()), { recursive: true });
    const db = new Database(app.file());
    db.pragma('journal_mode = WAL');
    const isNew = db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(first) === undefined;
    if (isNew) for (const sql of statements()) db.exec(sql);
    return { rows: async sql => db.prepare(sql).all(), end: () => db.close() };
  }
  const { Client } = require('pg');
  const [host, port, database, user, password] = app.access.map(variable => env[variable]);
  const client = new Client({ host, port: Number(port), database, user, password });
  client.on('error', () => process.exit(3));
  await client.connect();
  const { rows } = await client.query("SELECT 1 FROM pg_class WHERE relname = $1 AND relkind = 'r'", [first]);
  if (rows.length === 0) for (const sql of statements()) await client.query(sql);
  return { rows: async sql => (await client.query(sql)).rows, end: () => client.end() };
}

async function main() {
  const database = await open();
  if (app.isScript || words.includes('--tables')) return database.end();
  const server = createServer(async (request, response) => {
    if (request.url !== '/data') return response.end('{"version": "2.0.0"}');
    const told = {};
    for (const [table, columns] of Object.entries(app.tables)) {
      const keys = Object.keys(columns).filter(key => columns[key] === 'text' || columns[key] === 'int');
      const rows = await database.rows(`SELECT id, ${keys.map(key => `"${key}"`)} FROM "${table}" ORDER BY id`);
      const text = JSON.stringify(rows.map(row => Object.values(row)));
      told[table] = `${rows.length} rows, ${createHash('sha256').update(text).digest('hex')}`;
    }
    response.end(JSON.stringify({ engine: app.isPostgres ? 'postgres' : 'sqlite', told }));
  });
  process.on('SIGTERM', async () => {
    await database.end();
    process.exit(0);
  });
  const address = app.address?.() ?? '*';
  server.listen(Number(app.port()), address === '*' ? undefined : address);
}

main().catch(error => {
  console.error(error.message);
  process.exit(6);
});
