// The start of InfiniDysk if its installation has no start script: a frontend and a backend that begin and end
// together.

/** The backend, relative to the directory of the installation. */
export const PROGRAM = 'app/NzbWebDAV';

/**
 * A script for `sh -c` whose argument is the directory of the installation. A failed migration ends both programs. Both
 * get the signals, and the exit code is that of the backend, or 1 when the frontend has ended by itself. The frontend
 * has a shell of its own, which tells of its end by a signal, because a POSIX shell cannot wait for either of two. A
 * process that was just forked may lose a signal for which its parent has a trap, so the frontend begins before the
 * trap for TERM, and `end` waits a second unless a signal was forwarded.
 */
export const START_STEPS = `
ending=
serving=
lost=
frontend=
backend=
forward() {
  ending=1
  kill -TERM "$frontend" 2>/dev/null
  [ -z "$backend" ] || kill -TERM "$backend" 2>/dev/null
}
lose() {
  [ -z "$ending" ] || return
  lost=1
  [ -z "$serving" ] || forward
}
serve() {
  node=
  quit=
  trap 'quit=1; [ -z "$node" ] || kill -TERM "$node" 2>/dev/null' TERM
  node dist-node/server.js &
  node=$!
  [ -z "$quit" ] || kill -TERM "$node" 2>/dev/null
  while wait "$node"; kill -0 "$node" 2>/dev/null; do :; done
  kill -USR1 "$$"
}
run() {
  backend=
  "$@" &
  backend=$!
  [ -z "$ending" ] || kill -TERM "$backend" 2>/dev/null
  wait "$backend"
  code=$?
  while kill -0 "$backend" 2>/dev/null; do
    wait "$backend"
    code=$?
  done
}
end() {
  [ -n "$ending" ] || sleep 1
  ending=1
  kill -TERM "$frontend" 2>/dev/null
  wait "$frontend"
  if [ -n "$lost" ]; then
    echo 'the frontend has ended by itself, and the backend with it' >&2
    exit 1
  fi
  exit "$code"
}
cd "$1/frontend" || exit 1
trap lose USR1
serve &
frontend=$!
trap forward TERM INT
cd "$1" || exit 1
run "$1/${PROGRAM}" --db-migration
serving=1
if [ "$code" -ne 0 ] || [ -n "$ending$lost" ]; then end; fi
run "$1/${PROGRAM}"
end
`;
