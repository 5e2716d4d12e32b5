// The start of InfiniDysk if its installation has no start script: a frontend and a backend that begin and end
// together.

/** The backend, relative to the directory of the installation. */
export const PROGRAM = 'app/NzbWebDAV';

/**
 * A script for `sh -c` whose argument is the directory of the installation. A failed migration ends both programs. Both
 * get the signals, and the exit code is that of the backend.
 */
export const START_STEPS = `
cd "$1/frontend" || exit 1
node dist-node/server.js &
frontend=$!
backend=
ending=
forward() {
  ending=1
  kill -TERM "$frontend" 2>/dev/null
  [ -z "$backend" ] || kill -TERM "$backend" 2>/dev/null
}
trap forward TERM INT
run() {
  "$@" &
  backend=$!
  wait "$backend"
  code=$?
  while kill -0 "$backend" 2>/dev/null; do
    wait "$backend"
    code=$?
  done
}
end() {
  kill -TERM "$frontend" 2>/dev/null
  wait "$frontend"
  exit "$code"
}
cd "$1" || exit 1
run "$1/${PROGRAM}" --db-migration
if [ "$code" -ne 0 ] || [ -n "$ending" ]; then end; fi
run "$1/${PROGRAM}"
end
`;
