// A child process with one bad habit, which its first argument names. It prints `up` when it is ready.
const { spawn } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');

const [, script, habit, ...rest] = process.argv;
const up = () => console.log('up');
const stay = () => setInterval(() => {}, 60_000);
const child = (childHabit, options = {}, ...more) =>
  spawn(process.execPath, [script, childHabit, ...more], { stdio: 'inherit', ...options });
const notePid = file => file && writeFileSync(file, String(process.pid));

const habits = {
  calm: () => stay(),
  'ignore-term'() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => console.log(`ignored ${signal}`));
    notePid(rest[0]);
    stay();
  },
  // The leader of the process group ends on SIGTERM, but its child in the same group does not.
  'stubborn-child'() {
    child('ignore-term', {}, rest[0]);
    stay();
  },
  // The grandchild leaves the process group for a session of its own.
  'leave-group'() {
    child('ignore-term', { detached: true }, rest[0]).unref();
    stay();
  },
  // A daemon forks twice: the process in the middle ends, so the last one is adopted by another process.
  'double-fork'() {
    child('middle', { detached: true }, rest[0]);
    stay();
  },
  middle() {
    child('calm-noted', { detached: true }, rest[0]).unref();
    setTimeout(() => process.exit(0), 50);
    return false;
  },
  'calm-noted'() {
    notePid(rest[0]);
    stay();
  },
  'crash-after': () => setTimeout(() => process.exit(4), Number(rest[0])),
  // Prints the given number of numbered lines as fast as it can, and then runs on.
  count() {
    for (let number = 0; number < Number(rest[0]); number += 1) process.stdout.write(`number ${number}\n`);
    stay();
  },
  web: () =>
    createServer((_request, response) => response.end('{"status":"ok"}')).listen(Number(process.env.PORT), '127.0.0.1'),
  'show-environment'() {
    console.log(
      `environment ${JSON.stringify({ uid: process.getuid(), gid: process.getgid(), groups: process.getgroups(), cwd: process.cwd(), argv: rest, env: process.env })}`,
    );
    stay();
  },
};

if (habits[habit]() !== false) up();
