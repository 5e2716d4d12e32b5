// A worker: one numbered line per second.
let number = 0;
console.log('INFO the web service answers, so the work begins');
setInterval(() => {
  number += 1;
  console.log(`INFO item ${number} done`);
}, 1_000);
