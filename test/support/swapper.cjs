// Exchanges what a path stands for as fast as it can: each of the other paths takes its place in turn, until its input
// ends. Says when it is ready, and when it has done so 10,000 times.
const fs = require('node:fs');

const [place, ...others] = process.argv.slice(2);

const ENOUGH = 10_000;

let made = 0;
let exchanged = 0;

/** Moves aside what the one that is raced against has made in between. */
function take(other) {
  for (;;) {
    try {
      fs.renameSync(other, place);
      return;
    } catch {
      made += 1;
      fs.renameSync(place, `${place}.made-${made}`);
    }
  }
}

function swap() {
  for (let i = 0; i < 200; i++) {
    const other = others[i % others.length];
    take(other);
    fs.renameSync(place, other);
    exchanged += 1;
    if (exchanged === ENOUGH) process.stdout.write('enough\n');
  }
  setImmediate(swap);
}

process.stdin.on('end', () => process.exit()).resume();
process.stdout.write('ready\n');
swap();
