// A service that fails now and then, so that auto-restart can be seen.
const seconds = 20 + Math.round(Math.random() * 20);
console.log(`INFO up; this will last ${seconds} seconds`);
setTimeout(() => {
  console.error('ERROR something went wrong on purpose');
  process.exit(3);
}, seconds * 1_000);
