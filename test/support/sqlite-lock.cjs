// A program that holds the lock of a database until its input ends.
const Database = require('better-sqlite3');

const db = new Database(process.argv[2], { timeout: 10_000 });
db.exec('BEGIN EXCLUSIVE');
process.stdout.write('locked\n');
process.stdin.resume().on('end', () => {
  db.exec('COMMIT');
  db.close();
});
