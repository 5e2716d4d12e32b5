// Exchanges what a path stands for as fast as possible: each of the other paths is renamed to it in turn, until the
// input ends. Prints `ready` at the start, and `enough` after 10,000 exchanges.
const fs = require('node:fs');

const [place, ...others] = process.argv.slice(2);

const ENOUGH = 10_000;

let made = 0;
let exchanged = 0;

/** Moves an entry to the place. An entry that the raced program has made there meanwhile is moved aside first. */
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
